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


DATA = "/home/ann/venv/lib/python3.11/site-packages/torch/utils/data"
LOADER = FrameSpec("_BaseDataLoaderIter.__next__", f"{DATA}/dataloader.py", 700)
FETCH = FrameSpec("_MapDatasetFetcher.fetch", f"{DATA}/_utils/fetch.py", 52)
COLLATE = FrameSpec("default_collate", f"{DATA}/_utils/collate.py", 200)
ITEM = FrameSpec("Rollout.__getitem__", REPLAY, 18)
ITEMS_AT_ONCE = FrameSpec("Rollout.__getitems__", REPLAY, 22)
DECODES = FrameSpec("open", "/venv/lib/python3.11/site-packages/PIL/Image.py", 3000)


def loading(*below: FrameSpec) -> Finding | None:
    """A hundred seconds, half of them in a DataLoader over a rollout."""
    builder = a_recording(seconds=100.0).spans(
        span("env.step", count=1000, self_seconds=50.0), span("buffer.sample", count=1000, self_seconds=50.0)
    )
    return found(builder.counter("env_steps", 1000).sample("buffer.sample", 90, MAIN, LOADER, *below), RULE)


@pytest.mark.parametrize("below", [(FETCH, ITEM), (FETCH, COLLATE)])
def test_a_loader_that_takes_items_of_memory_one_by_one_is_named_by_the_line_that_draws(
    below: tuple[FrameSpec, ...],
) -> None:
    finding = loading(*below)
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line) == (MAIN.file, MAIN.line)
    assert "randperm" in finding.cure


@pytest.mark.parametrize("below", [(FETCH, ITEMS_AT_ONCE), (FETCH, ITEM, DECODES), (FETCH,), ()])
def test_a_loader_that_takes_all_at_once_or_reads_its_items_is_left_in_peace(below: tuple[FrameSpec, ...]) -> None:
    assert loading(*below) is None
