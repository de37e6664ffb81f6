"""`buffer-hotspot` names a loop over the items of a buffer, and leaves loops over its fields in peace."""

from __future__ import annotations

import pytest

from rlprof.model.report import Finding
from support.advice import MAIN, found
from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

RULE = "buffer-hotspot"
REPLAY = "/home/ann/replay.py"
LOOP = FrameSpec("Replay.sample", REPLAY, 40)
FIND = FrameSpec("SumTree.find", REPLAY, 22)
TAKE = FrameSpec("Replay.sample", REPLAY, 44)


def sampling(seconds: float, inside: int, outside: int, loops: object) -> RecordingBuilder:
    """A hundred seconds with a buffer in them, and as many samples in and beside its loop."""
    builder = (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=1000, self_seconds=20.0),
            span("buffer.sample", count=1000, self_seconds=seconds),
            span("loss", phase="learn.loss", self_seconds=79.0 - seconds),
        )
        .counter("env_steps", 1000)
        .sample("buffer.sample", inside, MAIN, LOOP, FIND, FIND)
        .sample("buffer.sample", outside, MAIN, TAKE)
        .sample("env.step", 20, MAIN)
    )
    builder.facts = {**builder.facts, "item_loops": loops}
    return builder


ITEMS = {REPLAY: [[39, 40]], MAIN.file: [[MAIN.line - 5, MAIN.line + 5]]}


def test_a_walk_for_each_item_is_named_by_the_line_of_its_loop() -> None:
    finding = found(sampling(50.0, 80, 20, ITEMS), RULE)
    assert isinstance(finding, Finding)
    assert (finding.where[0].file, finding.where[0].line) == (REPLAY, LOOP.line)
    assert finding.severity == "critical"
    assert finding.evidence["loop_seconds"] == pytest.approx(40.0)
    assert 100 / 60 < finding.gain.sps_ratio < 100 / 50


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(sampling(50.0, 80, 20, {REPLAY: [[70, 80]]}), id="no loop over items"),
        pytest.param(sampling(50.0, 80, 20, {MAIN.file: ITEMS[MAIN.file]}), id="the training loop alone"),
        pytest.param(sampling(50.0, 30, 70, ITEMS), id="the smaller part of it"),
        pytest.param(sampling(5.0, 80, 20, ITEMS), id="a small part of the run"),
        pytest.param(sampling(50.0, 16, 4, ITEMS), id="few samples"),
        pytest.param(sampling(50.0, 80, 20, [["damaged"]]), id="nonsense"),
        pytest.param(sampling(50.0, 80, 20, {REPLAY: [["a", 2], None]}), id="more nonsense"),
    ],
)
def test_what_is_no_such_loop_is_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, RULE) is None
