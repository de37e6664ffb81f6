"""A plan from the findings of a recording: always one that can be read, whatever the recording says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.advise.engine import RULES
from rlprof.analyse.report import build_report
from rlprof.experiments.investigate.arguments import without_python
from rlprof.experiments.investigate.from_findings import function_of, plan_from_findings, quoted
from rlprof.experiments.investigate.parse import parse_plan
from rlprof.experiments.investigate.plan import BadPlan, Plan
from rlprof.experiments.investigate.prescriptions import PRESCRIPTIONS
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Place
from rlprof.model.toml_reader import toml_reader
from rlprof.treat.registry import parse_treatments
from support.examples import HOSTILE, ppo_recording


def a_finding(rule: str = "env-hotspot", **changes: object) -> Finding:
    found = Finding(
        rule=rule,
        severity="critical",
        title="the loop in reachable takes 79% of env.step",
        evidence={},
        where=(Place("/home/ann/project/flood.py", 29, "reachable"),),
        gain=Gain(1.53, 1.0, 1.53),
        cure='replace the loop by "NumPy"',
        changes_learning=False,
        verify="rlprof run train.py",
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def a_run(*argv: str) -> Recording:
    recording = ppo_recording()
    main = replace(recording.main, argv=argv or ("/usr/bin/python3.11", "train.py", "--envs", "8"))
    return replace(recording, processes=(main, *recording.processes[1:]))


def plan_of(*findings: Finding, recording: Recording | None = None) -> tuple[str, Plan]:
    recording = recording or a_run()
    text = plan_from_findings(recording, replace(build_report(recording), findings=findings))
    return text, parse_plan(text, "plan.toml")


def test_each_finding_is_a_hypothesis_with_its_bound_and_its_cure() -> None:
    _, plan = plan_of(a_finding(), a_finding("update-ratio", severity="info", changes_learning=True))
    assert plan.command == ("train.py", "--envs", "8")
    hotspot, ratio = plan.hypotheses
    assert hotspot.expect == 1.53
    assert hotspot.words.because == "the loop in reachable takes 79% of env.step"
    assert hotspot.words.action == 'replace the loop by "NumPy"'
    assert (hotspot.confidence, ratio.confidence) == (0.8, 0.4)
    assert ratio.changes_learning


def test_a_change_that_is_not_known_is_left_open_with_words_what_to_fill_in() -> None:
    text, plan = plan_of(a_finding())
    assert plan.hypotheses[0].change.is_empty
    assert "leave the function out to see" in plan.hypotheses[0].words.fill_in
    assert '# change.skip = ["flood:reachable=null"]' in text


@pytest.mark.parametrize(
    ("rule", "treatments", "environment"),
    [
        ("gc-pauses", ("gc-freeze",), {}),
        ("logging-cost", ("mute-logging",), {}),
        ("vecenv-ipc", ("serial-vecenv",), {}),
        ("thread-oversubscription", (), {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}),
    ],
)
def test_a_known_treatment_is_filled_in(rule: str, treatments: tuple[str, ...], environment: dict[str, str]) -> None:
    _, plan = plan_of(a_finding(rule))
    assert plan.hypotheses[0].change.treatments == treatments
    assert dict(plan.hypotheses[0].change.environment) == environment


def test_prescriptions_are_for_rules_and_name_treatments_that_exist() -> None:
    assert set(PRESCRIPTIONS) <= {rule.name for rule in RULES}
    for prescription in PRESCRIPTIONS.values():
        parse_treatments(prescription.treatments)
        assert bool(prescription.fill_in) != bool(prescription.treatments or prescription.environment)


def test_findings_without_a_gain_are_only_mentioned() -> None:
    text, plan = plan_of(a_finding(), a_finding("phase-change", gain=Gain(1.0, 1.0, 1.0)))
    assert len(plan.hypotheses) == 1
    assert "# Findings that promise no speed-up: phase-change" in text


def test_two_findings_about_one_function_have_two_names() -> None:
    _, plan = plan_of(a_finding(), a_finding())
    assert [hypothesis.name for hypothesis in plan.hypotheses] == ["env-hotspot reachable", "env-hotspot reachable 2"]


def test_a_recording_without_findings_gives_a_plan_to_be_written() -> None:
    recording = a_run()
    text = plan_from_findings(recording, replace(build_report(recording), findings=()))
    with pytest.raises(BadPlan, match="there is nothing to test"):
        parse_plan(text, "plan.toml")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("/usr/bin/python3", "-u", "-O", "train.py", "-u"), ["train.py", "-u"]),
        (("python", "-m", "my.train", "--a"), ["-m", "my.train", "--a"]),
        (("python", "-c", "print()"), []),
        ((), []),
    ],
)
def test_the_command_is_what_stands_behind_python(argv: tuple[str, ...], words: list[str]) -> None:
    assert without_python(argv) == words


def test_what_was_masked_is_said() -> None:
    text, _ = plan_of(a_finding(), recording=a_run("python", "train.py", "--token", "***"))
    assert "was masked" in text


def test_functions_are_named_by_the_packages_they_lie_in(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    inside = Place(str(tmp_path / "pkg" / "env.py"), 3, "World.step")
    assert function_of(a_run(), inside) == "pkg.env:World.step"
    assert function_of(a_run("python", "-m", "pkg.env"), inside) == "__main__:World.step"
    assert function_of(a_run(), Place("/home/ann/train.py", 3, "main")) == "__main__:main"
    assert function_of(a_run(), Place("/home/ann/other.py", 3, "<lambda>")) is None


def test_hostile_names_are_data_in_the_plan_too() -> None:
    bad = a_finding(HOSTILE, title=HOSTILE, cure=HOSTILE, where=(Place(HOSTILE, 1, HOSTILE),))
    text, plan = plan_of(bad, recording=a_run("python", "train.py", HOSTILE.replace("\0", "")))
    assert plan.command[0] == "train.py"
    assert "\x1b" not in text
    assert len(plan.hypotheses) == 1


@given(st.text())
def test_every_text_survives_being_quoted(text: str) -> None:
    toml = toml_reader()
    assert toml is not None
    assert toml.loads(f"a = {quoted(text)}")["a"] == text
