"""`below-expectation` holds a run against rows of speeds: the user's, and published ones. No row, no finding."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.analyse.published_speeds import ROWS
from rlprof.model.errors import BadOption
from rlprof.model.expectations import read_row
from rlprof.model.report import Finding
from support.advice import found, train
from support.recordings import FACTS, RecordingBuilder, a_recording, span

RULE = "below-expectation"


def a_run(*rows: Any, command: str = "rlprof run train_ppo.py", phases: bool = False, **facts: Any) -> RecordingBuilder:
    """A hundred steps per second, for twenty seconds."""
    known = {**FACTS, "expectations": list(rows), **facts}
    builder = a_recording(seconds=20.0, facts=known, command=tuple(command.split()))
    steps = span("env.step", count=2000, self_seconds=19.0, phase="env.step")
    builder.spans(span("supervised", span("rollout", steps, count=20)) if phases else steps)
    return builder.counter("env_steps", 2000).sample("env.step", 500, train(12, "play"))


def spoken(builder: RecordingBuilder) -> Finding | None:
    return found(builder, RULE)


def test_a_run_at_a_fifth_of_what_is_expected_is_named_with_the_row() -> None:
    finding = spoken(a_run({"low": 500, "high": 800, "source": "last month"}))
    assert finding is not None
    assert finding.evidence["sps"] == pytest.approx(100.0, rel=0.02)
    assert finding.evidence["row"]["low"] == 500
    assert finding.gain.high == pytest.approx(8.0, rel=0.02)
    assert finding.gain.low == 1.0
    assert "last month" in finding.cure
    assert finding.where[0].line == 12


@pytest.mark.parametrize(
    "row",
    [
        {"low": 150, "high": 300},
        {"low": 900, "hardware": "gpu"},
        {"low": 900, "hardware": "RTX 4090"},
        {"low": 900, "algorithm": "SAC"},
        {"low": 900, "algorithm": "pp"},
        {"low": 900, "phase": "supervised"},
        {"low": -1},
        {"low": 900, "high": 2},
        {"low": 900, "strange": 1},
        "900",
        None,
    ],
)
def test_rows_about_something_else_and_damaged_ones_say_nothing(row: Any) -> None:
    assert spoken(a_run(row)) is None


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ({"low": 900, "hardware": "cpu"}, {}),
        ({"low": 900, "hardware": "example cpu"}, {}),
        ({"low": 900, "hardware": "gpu"}, {"gpu": "NVIDIA H100"}),
        ({"low": 900, "algorithm": "ppo"}, {}),
        ({"low": 900, "algorithm": "train-ppo"}, {}),
        ({"low": 900, "algorithm": "recurrentppo"}, {"algorithm": "RecurrentPPO"}),
    ],
)
def test_a_row_fits_by_hardware_and_by_the_name_of_algorithm_or_program(row: Any, facts: dict[str, Any]) -> None:
    assert spoken(a_run(row, **facts)) is not None


def test_the_row_that_says_most_counts() -> None:
    finding = spoken(a_run({"low": 900}, {"low": 300, "hardware": "cpu", "algorithm": "ppo"}))
    assert finding is not None
    assert finding.evidence["expected_low"] == 300
    assert spoken(a_run({"low": 900}, {"low": 150, "algorithm": "ppo"})) is None


def test_a_phase_that_the_program_marks_is_judged_by_its_own_rate() -> None:
    finding = spoken(a_run({"low": 900, "phase": "supervised"}, phases=True))
    assert finding is not None
    assert "supervised" in finding.title


def test_a_rule_that_names_the_same_line_speaks_beside_it() -> None:
    builder = a_run({"low": 500})
    builder.sample_rows.clear()
    for line, count in ((12, 200), (13, 150), (14, 100)):
        builder.sample("env.step", count, train(3), train(line, "play"))
    rules = [finding.rule for finding in complete_report(builder.build()).findings]
    assert {"env-hotspot", RULE} <= set(rules)


def test_published_rows_have_a_source_and_speak_of_the_script_they_are_about() -> None:
    assert all(row.source and row.hardware and row.algorithm and 0 < row.low <= row.high for row in ROWS)
    slow = a_run(command="python cleanrl/ppo_atari_envpool.py", gpu="NVIDIA H100 80GB HBM3")
    finding = spoken(slow)
    assert finding is not None
    assert "LeanRL" in finding.cure
    assert spoken(a_run(command="python ppo_atari_envpool.py", gpu="NVIDIA A100")) is None


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"hardware": "cpu"}, "low"),
        ({"low": True}, "low"),
        ({"low": 5, "hardware": 3}, "texts"),
        ({"low": 5, "sps": 3}, "'sps'"),
        ([5], "table"),
    ],
)
def test_a_row_that_cannot_be_read_says_what_is_wrong(row: Any, word: str) -> None:
    with pytest.raises(BadOption, match=word):
        read_row(row)
