"""Reading plans: what they say, and one clear line with the place for what they say wrong."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.investigate.parse import LARGEST_PLAN, parse_plan, read_plan
from rlprof.experiments.investigate.plan import FOR_DIAGNOSIS, BadPlan, in_order, kind_of
from rlprof.treat.registry import KINDS
from support.investigations import PLAN, a_hypothesis

ROOT = Path(__file__).resolve().parents[4]


def test_a_plan_says_what_is_run_and_what_may_help() -> None:
    plan = parse_plan(PLAN, "plan.toml")
    assert plan.command == ("train.py", "--turns", "40", "--log=step")
    assert plan.settings.runs == 5
    quicker, no_log = plan.hypotheses
    assert (quicker.name, quicker.expect, quicker.confidence, quicker.effort) == ("quicker update", 1.5, 0.8, 2.0)
    assert quicker.change.arguments == ("--update", "0.001")
    assert no_log.change.arguments == ("--log", "none")
    assert not quicker.is_diagnosis


def test_every_kind_of_change_is_read() -> None:
    plan = parse_plan(
        PLAN + 'change.remove = "--log"\nchange.environment = { OMP_NUM_THREADS = "1" }\n'
        'change.skip = ["env:World.draw=null"]\nchange.replace = { "env:step" = "quick:step" }\n'
        'change.treatments = ["threads=1"]\n',
        "plan.toml",
    )
    change = plan.hypotheses[1].change
    assert change.remove == ("--log",)
    assert dict(change.environment) == {"OMP_NUM_THREADS": "1"}
    assert change.treatments == ("skip:env:World.draw=null", "replace:env:step=quick:step", "threads=1")
    assert plan.hypotheses[1].is_diagnosis


def test_an_empty_change_is_a_hypothesis_that_waits() -> None:
    plan = parse_plan(PLAN.replace('change.arguments = "--update 0.001"', 'fill_in = "the option"'), "plan.toml")
    assert plan.hypotheses[0].change.is_empty
    assert plan.hypotheses[0].words.fill_in == "the option"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("expect = 1.5", "expcet = 1.5", "plan.toml:8: hypothesis 1 (quicker update): there is no key 'expcet' here"),
        ("expect = 1.2", "", "plan.toml:17: hypothesis 2 (no log): expect is missing: a number above 1"),
        ("expect = 1.5", "expect = '1.5'", "expect is a number above 1: how many times as fast, not '1.5'"),
        ("expect = 1.5", "expect = nan", "not nan"),
        ("expect = 1.5", "expect = 0.9", "not 0.9"),
        ("expect = 1.5", "expect = true", "not True"),
        ("confidence = 0.8", "confidence = 80", "confidence is a number above 0, at most 1, not 80"),
        ("effort = 2", "effort = 0", "effort is a number above 0"),
        ("changes_learning = false", "", "changes_learning is missing: true or false"),
        ("changes_learning = false", "changes_learning = 0", "changes_learning is true or false, not 0"),
        ('name = "quicker update"', "name = 3", "hypothesis 1: name is a text in quotes, not 3"),
        ('name = "quicker update"', 'name = "a/b"', "name is a text of 1 to 80 characters"),
        ('name = "quicker update"', 'name = "No Log"', "two hypotheses are called 'No Log'"),
        ('change.arguments = "--update 0.001"', "change.arguments = 3", "change: arguments is a text or a list"),
        ('change.arguments = "--update 0.001"', "change.arguments = \"'\"", "cannot be split into words"),
        ('change.arguments = "--update 0.001"', "change = 3", "change is a table, not 3"),
        ('change.arguments = "--update 0.001"', "change.skip = ['f']", "skip names no function: 'f'"),
        ('change.arguments = "--update 0.001"', "change.replace = {'a:b' = 'c'}", "replace names no function"),
        ('change.arguments = "--update 0.001"', "change.environment = {'A B' = '1'}", "'A B' cannot be set"),
        ('change.arguments = "--update 0.001"', "change.environment = {RLPROF_X = '1'}", "RLPROF_… is rlprof's own"),
        ('change.arguments = "--update 0.001"', "change.environment = {A = 1}", "environment is a table of texts"),
        ('change.arguments = "--update 0.001"', 'change.remove = "--video"', "has no --video that could be removed"),
        ("runs = 5", "runs = 0", "plan.toml, settings: runs is a whole number from 1 on, not 0"),
        ("runs = 5", "run = 5", "there is no key 'run' here; did you mean runs?"),
        ("runs = 5", "margin = 3", "margin is a number from 0 to 1"),
        ("[settings]", "[setting]", "there is no key 'setting' here; did you mean settings?"),
        ("[settings]", "[combination]\nexpect = 1\n[settings]", "plan.toml, combination: expect is a number above 1"),
        ('command = "train.py --turns 40 --log=step"', "", "plan.toml, baseline: command is missing"),
        ("[baseline]", "schema = 2\n[baseline]", "this rlprof reads plans of schema 1"),
        ("[baseline]", "[baseline", "plan.toml is no valid TOML"),
        ("[[hypothesis]]", "[hypothesis]", "plan.toml is no valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_with_its_place(old: str, new: str, said: str) -> None:
    assert old in PLAN
    with pytest.raises(BadPlan) as caught:
        parse_plan(PLAN.replace(old, new, 2 if old == "[[hypothesis]]" else 1), "plan.toml")
    message = str(caught.value)
    assert said in message
    assert message.startswith("plan.toml")
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_a_plan_without_hypotheses_is_refused() -> None:
    with pytest.raises(BadPlan, match="there is nothing to test"):
        parse_plan('baseline.command = "train.py"', "plan.toml")


def test_files_that_are_no_plans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadPlan, match="cannot read the plan"):
        read_plan(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPlan, match="is not UTF-8 text"):
        read_plan(tmp_path / "binary.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (LARGEST_PLAN + 1))
    with pytest.raises(BadPlan, match="larger than a plan can be"):
        read_plan(tmp_path / "large.toml")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(BadPlan, match="no valid TOML"):
        read_plan(tmp_path / "deep.toml")


@given(st.text(max_size=60))
def test_no_text_is_anything_but_a_plan_or_a_clear_refusal(text: str) -> None:
    for whole in (text, PLAN + text, PLAN.replace("1.5", text)):
        with contextlib.suppress(BadPlan):
            parse_plan(whole, "plan.toml")


def test_the_most_promising_for_its_effort_comes_first_and_what_is_open_last() -> None:
    large = a_hypothesis("large but hard", expect=3.0, confidence=0.5, effort=10.0, arguments=("--a",))
    small = a_hypothesis("small and easy", expect=1.2, confidence=0.9, effort=0.5, arguments=("--b",))
    unsure = a_hypothesis("easy but unlikely", expect=1.2, confidence=0.1, effort=0.5, arguments=("--c",))
    empty = a_hypothesis("open", expect=9.0, confidence=1.0, effort=0.1)
    assert [h.name for h in in_order([empty, large, unsure, small])] == [
        "small and easy", "large but hard", "easy but unlikely", "open",
    ]  # fmt: skip
    assert small.worth == pytest.approx(0.2 * 0.9 / 0.5)


def test_equally_promising_ones_stay_as_the_plan_has_them() -> None:
    twins = [a_hypothesis(name, arguments=(f"--{name}",)) for name in ("b", "a", "c")]
    assert [h.name for h in in_order(twins)] == ["b", "a", "c"]


def test_treatments_for_diagnosis_are_told_by_their_kind() -> None:
    assert [kind_of(text) for text in ("skip:a:b=0", "threads=1", "mute-logging", "replace:a:b=c:d")] == [
        "skip", "threads", "mute-logging", "replace",
    ]  # fmt: skip
    assert a_hypothesis(treatments=("skip:a:b",)).is_diagnosis
    assert not a_hypothesis(treatments=("replace:a:b=c:d",)).is_diagnosis


def test_what_is_for_diagnosis_here_is_for_diagnosis_there() -> None:
    assert set(FOR_DIAGNOSIS) == {kind.id for kind in KINDS.values() if kind.diagnosis_only}


def test_the_plan_of_the_docs_is_one() -> None:
    plan = read_plan(ROOT / "docs" / "experiments" / "snake.toml")
    assert len(plan.hypotheses) >= 6
    assert all(not hypothesis.change.is_empty for hypothesis in plan.hypotheses)


def test_the_plan_that_the_manual_shows_is_one() -> None:
    page = (ROOT / "docs" / "commands" / "investigate.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    plan = parse_plan(shown, "investigate.md")
    assert plan.settings.arguments_combined == ("--steps", "100000")
    assert dict(plan.hypotheses[0].change.environment) == {"OMP_NUM_THREADS": "1"}
