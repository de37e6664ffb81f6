"""`sync-in-loop` and `list-to-tensor` go by the user's lines that make the calls, and by what these took."""

from __future__ import annotations

import pytest

from rlprof.model.kinds import SITE
from support.advice import SB3, TRAIN, found, train
from support.recordings import FrameSpec, RecordingBuilder, SpanSpec, a_recording, span

ITEM = ".item() train.py:21"


def site(name: str, calls: int, seconds: float, phase: str | None = None) -> SpanSpec:
    return span(name, count=calls, self_seconds=seconds, kind=SITE, phase=phase)


def collecting(*sites: SpanSpec, steps: int = 1000, seconds: float = 50.0) -> RecordingBuilder:
    rest = 100.0 - seconds - sum(one.total_ns for one in sites) / 1e9
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=steps, self_seconds=rest),
            span("collecting", *sites, self_seconds=seconds),
        )
        .counter("env_steps", 16 * steps)
        .sample("collecting", 60, train(20))
    )


def test_single_values_in_a_loop_are_counted_for_each_step() -> None:
    builder = collecting(site(ITEM, 16_000, 10.0)).sample("collecting", 60, train(21, "collect"))
    finding = found(builder, "sync-in-loop")
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line, finding.where[0].function) == (TRAIN, 21, "collect")
    assert finding.evidence["calls_per_turn"] == pytest.approx(16)
    assert finding.evidence["calls_per_env_step"] == pytest.approx(1)
    assert not finding.changes_learning


def test_indexing_on_the_same_line_is_in_the_bound() -> None:
    builder = collecting(site(ITEM, 16_000, 10.0)).sample("collecting", 60, train(21))
    finding = found(builder, "sync-in-loop")
    assert finding is not None
    assert finding.gain.high > 100 / (100 - 25.0)


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(collecting(site(ITEM, 1_000, 10.0)).sample("collecting", 9, train(21)), id="once a step"),
        pytest.param(collecting(site(ITEM, 16_000, 0.001)).sample("env.step", 9, train(21)), id="no time"),
        pytest.param(
            collecting(site(".item() stable_baselines3/common/on_policy_algorithm.py:300", 16_000, 10.0)).sample(
                "collecting", 9, train(5), SB3
            ),
            id="a library's line",
        ),
        pytest.param(collecting().sample("collecting", 9, train(21)), id="no call"),
    ],
)
def test_a_few_reads_or_a_librarys_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "sync-in-loop") is None


def rollouts_of_ones_own(calls: int) -> RecordingBuilder:
    """Workers of the program's own play: no env step is seen, and an update is of 25 turns."""
    return (
        a_recording(seconds=100.0)
        .spans(
            span("loss", span("forward", count=2500, self_seconds=20.0), site(ITEM, calls, 20.0), phase="learn.loss"),
            span("backward", count=100, self_seconds=20.0, phase="learn.backward"),
            span("optimizer", count=100, self_seconds=40.0, phase="learn.optimizer"),
        )
        .counter("updates", 100)
        .sample("loss", 60, train(21))
    )


def test_where_no_step_was_seen_it_is_the_networks_that_are_asked_each_turn() -> None:
    assert found(rollouts_of_ones_own(2500), "sync-in-loop") is None
    finding = found(rollouts_of_ones_own(40_000), "sync-in-loop")
    assert finding is not None
    assert finding.evidence["calls_per_turn"] == pytest.approx(16)


def test_tensors_that_old_types_make_of_lists_are_found_by_source_and_samples() -> None:
    builder = collecting().sample("collecting", 60, train(21, "replay"))
    builder.facts = {**builder.facts, "old_tensors": {TRAIN: [[21, 21]]}}
    finding = found(builder, "list-to-tensor")
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line) == (TRAIN, 21)
    assert finding.severity == "warning"
    assert "FloatTensor" in finding.title


@pytest.mark.parametrize(
    ("line", "below"),
    [(22, ()), (21, (FrameSpec("work", "/usr/lib/python3.11/random.py", 9),))],
    ids=["another line", "a library's work"],
)
def test_old_types_on_lines_that_take_no_time_by_themselves_are_left_in_peace(
    line: int, below: tuple[FrameSpec, ...]
) -> None:
    builder = collecting().sample("collecting", 60, train(21, "replay"), *below)
    builder.facts = {**builder.facts, "old_tensors": {TRAIN: [[line, line]]}}
    assert found(builder, "list-to-tensor") is None


def test_reads_in_an_advantage_function_belong_to_another_rule() -> None:
    builder = a_recording(seconds=100.0).spans(
        span("env.step", count=100, self_seconds=40.0),
        span("advantage", site(ITEM, 90_000, 30.0), self_seconds=20.0),
    )
    builder.counter("env_steps", 1600).sample("advantage", 90, train(21, "gae"))
    assert found(builder, "sync-in-loop") is None
    finding = found(builder, "advantage-loop")
    assert finding is not None
    assert finding.where[0].line == 21
    assert finding.evidence["single_values_read"] == 90_000


def test_what_follows_each_step_is_no_advantage_whatever_it_looked_like() -> None:
    builder = a_recording(seconds=100.0).spans(
        span("env.step", count=100, self_seconds=40.0),
        span("advantage", site(ITEM, 90_000, 30.0), count=99, self_seconds=20.0),
    )
    builder.counter("env_steps", 1600).sample("advantage", 90, train(21, "bonus"))
    assert found(builder, "advantage-loop") is None


def test_what_lists_cost_is_bounded_by_the_calls_that_were_timed() -> None:
    builder = collecting(
        site("torch.tensor(list) train.py:30", 500, 15.0), site("torch.tensor(list) train.py:31", 500, 5.0)
    )
    finding = found(builder.sample("collecting", 9, train(30)), "list-to-tensor")
    assert finding is not None
    assert [place.line for place in finding.where] == [30, 31]
    assert finding.gain.sps_ratio == pytest.approx(100 / 80)


def test_making_the_list_on_the_same_line_goes_with_it() -> None:
    builder = collecting(site("torch.tensor(list) train.py:30", 500, 10.0)).sample("collecting", 60, train(30))
    finding = found(builder, "list-to-tensor")
    assert finding is not None
    assert finding.evidence["seconds"] == pytest.approx(10.0)
    assert 100 / 75 < finding.gain.sps_ratio < 100 / 55


def test_lists_that_cost_little_are_left_in_peace() -> None:
    builder = collecting(site("torch.tensor(list) train.py:30", 50_000, 1.0)).sample("collecting", 9, train(30))
    assert found(builder, "list-to-tensor") is None


def test_lists_inside_a_library_are_left_in_peace() -> None:
    builder = collecting(site("torch.tensor(list) stable_baselines3/common/buffers.py:7", 500, 40.0))
    assert found(builder, "list-to-tensor") is None
