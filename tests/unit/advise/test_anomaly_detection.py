"""`anomaly-detection` speaks where autograd was seen to write tracebacks down, and names the line that asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.advise.report import complete_report
from support.advice import MAIN, TRAIN, found, train
from support.recordings import FACTS, FrameSpec, RecordingBuilder, a_recording, span

ASKED = {"file": TRAIN, "line": 7, "function": "main"}
WRITING = FrameSpec("format_stack", "/home/ann/venv/lib/python3.11/site-packages/torch/fx/traceback.py", 420)
OTHER = FrameSpec("format_list", "/home/ann/venv/lib/python3.11/site-packages/torch/fx/traceback.py", 99)
STANDARD = FrameSpec("checkcache", "/usr/lib/python3.11/linecache.py", 80)


def acting(*stack: FrameSpec, samples: int = 80, asked: Any = ASKED) -> RecordingBuilder:
    """Ten seconds, of which forward passes take five; these are the stacks of most of them."""
    return (
        a_recording(seconds=10.0, facts={**FACTS, "anomaly_detection_asked": asked})
        .spans(
            span("env.step", count=1000, self_seconds=3.0, phase="env.step"),
            span("forward", count=1000, self_seconds=5.0, phase="policy.forward"),
            span("backward", count=100, self_seconds=2.0, phase="learn.backward"),
        )
        .counter("env_steps", 8000)
        .sample("forward", samples, MAIN, train(61, "act"), *stack)
        .sample("forward", 100 - samples, MAIN, train(61, "act"))
        .sample("env.step", 60, MAIN)
        .sample("backward", 40, train(70))
    )


def test_the_line_that_switched_it_on_is_named_then_those_that_pay_for_it() -> None:
    finding = found(acting(WRITING, STANDARD), "anomaly-detection")
    assert finding is not None
    assert [place.line for place in finding.where] == [7, 61]
    assert finding.evidence["traceback_seconds"] == pytest.approx(4.0)
    assert finding.gain.sps_ratio > 10 / 6  # backward gets faster, too
    assert "set_detect_anomaly" in finding.cure
    assert not finding.changes_learning


@pytest.mark.parametrize("asked", [None, "train.py:7", {"file": TRAIN, "line": "7"}])
def test_without_a_line_that_asked_the_lines_that_pay_are_named(asked: Any) -> None:
    finding = found(acting(WRITING, asked=asked), "anomaly-detection")
    assert finding is not None
    assert [place.line for place in finding.where] == [61]


def test_what_it_slows_down_is_no_finding_of_its_own() -> None:
    rules = {finding.rule for finding in complete_report(acting(WRITING).build()).findings}
    assert "anomaly-detection" in rules
    assert not rules & {"advantage-loop", "unattributed-high", "gc-pauses"}


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(acting(STANDARD), id="tracebacks of somebody else"),
        pytest.param(acting(OTHER), id="another function of the file"),
        pytest.param(acting(WRITING, samples=3), id="hardly any, as a compiler makes them"),
    ],
)
def test_it_is_silent_where_nothing_was_written_down(builder: RecordingBuilder) -> None:
    assert found(builder, "anomaly-detection") is None
