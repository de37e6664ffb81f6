"""`env-hotspot` names a slow spot in the environment's step, and is quiet where the step is just long."""

from __future__ import annotations

import pytest

from rlprof.model.report import Finding
from support.advice import COPY, ENV, MAIN, SB3, STEP, env, found
from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

RULE = "env-hotspot"


def stepping(step: float = 80.0, steps: int = 10_000) -> RecordingBuilder:
    return (
        a_recording(seconds=100.0)
        .spans(span("env.step", count=steps, self_seconds=step), span("policy.forward", self_seconds=99.0 - step))
        .counter("env_steps", steps)
    )


def with_loop(builder: RecordingBuilder, *counts: int, rest: int = 30) -> RecordingBuilder:
    for line, count in enumerate(counts, 60):
        builder.sample("env.step", count, MAIN, STEP, env(line, "World.search"))
    return builder.sample("env.step", rest, MAIN, STEP, env(90, "World.look"))


def loud(builder: RecordingBuilder) -> Finding | None:
    finding = found(builder, RULE)
    return None if finding is None or finding.severity == "info" else finding


def test_a_loop_in_one_function_is_named_by_its_hottest_line() -> None:
    finding = loud(with_loop(stepping(), 60, 90, 20))
    assert finding is not None
    assert (finding.where[0].line, finding.where[0].function) == (61, "World.search")
    assert finding.evidence["phases"] == ["env.step"]
    assert finding.severity == "critical"
    assert "deque" in finding.cure


def test_the_bound_is_the_spots_high_end_and_not_the_whole_phase() -> None:
    finding = loud(with_loop(stepping(), 60, 90, 20))
    assert finding is not None
    seconds = 80.0 * 170 / 200
    assert finding.evidence["spot_seconds"] == pytest.approx(seconds)
    assert 100 / (100 - seconds) < finding.gain.sps_ratio < 100 / (100 - 80.0)


def test_a_copy_that_a_line_of_step_makes_is_named() -> None:
    builder = (
        stepping().sample("env.step", 80, MAIN, STEP, COPY, COPY).sample("env.step", 80, MAIN, env(50, "World.move"))
    )
    finding = loud(builder)
    assert finding is not None
    assert finding.where[0].line == STEP.line
    assert "correctness" in finding.cure


def test_a_loop_in_step_itself_is_named_where_it_takes_long() -> None:
    finding = loud(with_loop(stepping(steps=200_000), 60, 90, 50, rest=2))
    assert finding is not None
    assert finding.where[0].line == 61


def test_a_loop_that_is_seen_on_two_lines_is_one() -> None:
    finding = loud(with_loop(stepping(), 50, 120))
    assert finding is not None
    assert finding.where[0].line == 61


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(with_loop(stepping(), 20, 25, 20, rest=100), id="evenly expensive"),
        pytest.param(with_loop(stepping(), 170, 5), id="two lines: a call, not a loop"),
        pytest.param(with_loop(stepping(steps=400_000), 60, 90, 50, rest=2), id="a short step is all one function"),
        pytest.param(with_loop(stepping(steps=10_000_000), 60, 90, 20), id="a few microseconds a step"),
        pytest.param(with_loop(stepping(step=1.0), 60, 90, 20), id="a small phase"),
        pytest.param(with_loop(stepping(), 6, 9, 5, rest=3), id="too few samples"),
        pytest.param(stepping().sample("env.step", 200, MAIN, SB3), id="a library's environment"),
        pytest.param(stepping(), id="no sampler"),
    ],
)
def test_it_holds_back_where_it_cannot_know(builder: RecordingBuilder) -> None:
    assert loud(builder) is None


def test_one_line_that_takes_half_for_no_known_reason_is_only_information() -> None:
    finding = found(with_loop(stepping(), 170, 3), RULE)
    assert finding is not None
    assert finding.severity == "info"
    assert finding.where[0].line == 60


def test_a_line_that_waits_is_named_even_where_a_step_does_nothing_else() -> None:
    builder = stepping().sample("env.step", 170, MAIN, env(60, "World.pace")).sample("env.step", 2, MAIN, STEP)
    builder.facts = {**builder.facts, "pauses": {ENV: [[60, 60]]}}
    finding = loud(builder)
    assert finding is not None
    assert (finding.where[0].line, finding.severity) == (60, "critical")
    assert "real time" in finding.cure


TRAINING_LOOP = [MAIN.line - 3, MAIN.line + 3, False]
ACTING = FrameSpec("main", MAIN.file, MAIN.line - 1)


@pytest.mark.parametrize(
    ("facts", "is_loop"),
    [
        ({"loops": {MAIN.file: [TRAINING_LOOP], ENV: []}}, False),
        ({"loops": {MAIN.file: [TRAINING_LOOP], ENV: [[80, 85, False]]}}, False),
        ({"loops": {MAIN.file: [TRAINING_LOOP], ENV: [[59, 62, False]]}}, True),
        ({"loops": {MAIN.file: [TRAINING_LOOP], ENV: [[STEP.line, STEP.line, False]]}}, True),
        ({"loops": {MAIN.file: [TRAINING_LOOP], ENV: []}, "comprehensions": {ENV: [[61, 61]]}}, True),
        ({"loops": {MAIN.file: [TRAINING_LOOP]}}, True),
        ({}, True),
    ],
    ids=["no loop", "a loop elsewhere", "around them", "around their call", "a comprehension", "not read", "unknown"],
)
def test_several_lines_that_take_long_are_a_loop_only_where_there_is_one(
    facts: dict[str, object], is_loop: bool
) -> None:
    for beside, place in (("policy.forward", ACTING), ("", MAIN)):  # the loop is known by what else happens in it
        builder = with_loop(stepping(), 60, 90, 20).sample(beside, 10, place)
        builder.facts = {**builder.facts, **facts}
        assert (loud(builder) is not None) == is_loop, beside


NUMPY = "/home/ann/venv/lib/python3.11/site-packages/numpy/_core/_methods.py"


def asking_numpy(mean: int, count: int, loops: object) -> RecordingBuilder:
    line = env(60, "Smaller.observation")
    builder = stepping().sample("env.step", mean, MAIN, STEP, line, FrameSpec("_mean", NUMPY, 132))
    builder = builder.sample("env.step", count, MAIN, STEP, line, FrameSpec("_count_reduce_items", NUMPY, 83))
    builder = builder.sample("env.step", 30, MAIN, STEP, env(90, "World.look"))
    builder.facts = {**builder.facts, "loops": loops}
    return builder


def test_a_line_that_asks_numpy_about_one_corner_after_the_other_is_a_loop() -> None:
    finding = loud(asking_numpy(120, 50, {ENV: [[58, 61, False], [59, 60, False]]}))
    assert finding is not None
    assert (finding.where[0].line, finding.severity) == (60, "critical")
    assert "whole arrays" in finding.cure


def test_small_steps_in_the_environments_own_step_are_its_simulator() -> None:
    """115 us of eight substeps, one after the other: below what a loop in a step itself must take."""
    line = env(40, "World.step")
    builder = stepping(steps=400_000).sample("env.step", 100, MAIN, line, FrameSpec("_clip", NUMPY, 99))
    builder = builder.sample("env.step", 60, MAIN, line).sample("env.step", 4, MAIN, env(44, "World.step"))
    builder.facts = {**builder.facts, "loops": {ENV: [[39, 41, False]]}}
    assert loud(builder) is None


@pytest.mark.parametrize(
    ("mean", "count", "loops"),
    [
        pytest.param(120, 50, {ENV: [[80, 95, False]]}, id="in no loop"),
        pytest.param(165, 5, {ENV: [[58, 61, False]]}, id="large arrays: all of it is in one function"),
    ],
)
def test_a_line_that_asks_numpy_about_all_at_once_is_the_simulator(mean: int, count: int, loops: object) -> None:
    assert loud(asking_numpy(mean, count, loops)) is None


def vector_of(inner: int) -> RecordingBuilder:
    """A vector's step that calls single steps so often each time, all of it in one loop of theirs."""
    single = span("World", count=1000 * inner, self_seconds=80.0, phase="env.step")
    builder = a_recording(seconds=100.0).spans(
        span("env.step", single, count=1000, phase="env.step"), span("policy.forward", self_seconds=19.0)
    )
    builder.counter("env_steps", 1000 * inner)
    for line, count in enumerate((60, 90, 50), 60):
        builder.sample("World", count, MAIN, STEP, env(line, "World.search"))
    return builder


def test_a_whole_simulator_that_could_run_beside_others_of_its_kind_is_only_said() -> None:
    together, alone = found(vector_of(4), RULE), found(vector_of(1), RULE)
    assert together is not None
    assert alone is not None
    assert (together.severity, alone.severity) == ("info", "critical")


def test_a_board_that_steps_all_games_in_one_call_cannot_be_divided() -> None:
    builder = with_loop(stepping(), 60, 90, 50, rest=2)
    builder.counts.clear()
    finding = found(builder.counter("env_steps", 2_560_000 // 10), RULE)
    assert finding is not None
    assert finding.severity == "critical"
