"""A loop that stands in the training loop is one piece of work: of advantages where it goes backwards."""

from __future__ import annotations

from rlprof.advise.report import complete_report
from rlprof.model.report import Finding
from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

TRAIN = "/home/ann/train.py"
WRAPPER = FrameSpec("wrapped", "/usr/lib/python3.11/site-packages/torch/_tensor.py", 31)


def at(line: int) -> FrameSpec:
    return FrameSpec("<module>", TRAIN, line)


def in_the_open(loops: object) -> RecordingBuilder:
    """100 s, of which 60 are in three lines of one loop, most of it below torch's wrappers."""
    builder = a_recording(seconds=100.0).spans(
        span("collecting", span("env.step", count=1000, self_seconds=40.0), count=10, self_seconds=60.0, phase="other")
    )
    builder.counter("env_steps", 1000)
    builder.facts = {**builder.facts, "loops": loops}
    for line in (22, 23, 24):
        builder.sample("collecting", 20, at(line), WRAPPER)
    return builder.sample("env.step", 40, at(16))


def findings(builder: RecordingBuilder) -> tuple[Finding, ...]:
    return complete_report(builder.build()).findings


def test_a_loop_backwards_computes_advantages() -> None:
    (finding,) = findings(in_the_open({TRAIN: [[10, 30, False], [11, 17, False], [19, 24, False], [21, 24, True]]}))
    assert (finding.rule, finding.severity) == ("advantage-loop", "critical")
    assert "lines 19 to 24" in finding.title
    assert {place.line for place in finding.where} == {22, 23, 24}
    assert finding.evidence["seconds_per_transition"] == 60.0 / 1000


def test_another_loop_is_work_without_a_span() -> None:
    (finding,) = findings(in_the_open({TRAIN: [[10, 30, False], [11, 17, False], [19, 24, False], [21, 24, False]]}))
    assert (finding.rule, finding.severity) == ("unattributed-high", "warning")
    assert "in the loop at lines 19 to 24" in finding.title


def test_a_loop_around_env_steps_is_the_training_loop_itself() -> None:
    assert findings(in_the_open({TRAIN: [[10, 30, True]]})) == ()


def test_a_recording_without_loops_or_with_nonsense_is_read_as_before() -> None:
    for loops in (None, {}, [], {TRAIN: "all"}, {TRAIN: [[1, 2], ["a", "b", "c"], None]}, {3: [[19, 24, True]]}):
        assert findings(in_the_open(loops)) == ()
