"""What stacks show all through the training: environments that are built anew, functions that play beside it."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.model.report import Finding
from support.advice import ENV, MAIN, MODULE, TRAIN, env, found, train
from support.recordings import FACTS, FrameSpec, RecordingBuilder, a_recording, span

SECONDS = 20
Row = tuple[str, int, tuple[FrameSpec, ...]]

STEPS: Row = ("env.step", 30, (train(60), env(40, "World.step")))
BUILDS: Row = ("collecting", 20, (train(55), env(20, "World.__init__"), env(25, "World._carve")))
LEARNS: Row = ("backward", 20, (train(70),))


def over_time(*rows: Row, during: range = range(SECONDS), **facts: Any) -> RecordingBuilder:
    """A second of steps, work beside them and learning after the other; `rows` are seen in each of `during`."""
    builder = a_recording(seconds=float(SECONDS), facts={**FACTS, **facts}).spans(
        span("env.step", count=1000, self_seconds=0.3 * SECONDS),
        span("forward", count=1000, self_seconds=0.1 * SECONDS, phase="policy.forward"),
        span("collecting", self_seconds=0.4 * SECONDS, phase="other"),
        span("backward", count=100, self_seconds=0.2 * SECONDS, phase="learn.backward"),
    )
    own = {"env.step": 0.3, "forward": 0.1, "collecting": 0.4, "backward": 0.2}
    rest: Row = ("collecting", 20, (train(61),))
    for second in range(SECONDS):
        seen = (STEPS, LEARNS, rest, *(rows if second in during else ()))
        builder.slice_of_time(float(second), second + 1.0, own, seen)
    return builder.counter("env_steps", 1000).counter("updates", 100)


def test_environments_that_are_built_again_and_again_are_named_by_the_line_that_does() -> None:
    finding = found(over_time(BUILDS), "reset-cost")
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line) == (TRAIN, 55)
    assert finding.evidence["building_seconds"] == pytest.approx(0.2 * SECONDS)
    assert finding.gain.high > 1.2


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(over_time(BUILDS, during=range(6)), id="in the beginning only"),
        pytest.param(
            over_time(("collecting", 20, (train(55), env(20, "Plan.__init__")))), id="a class that is no environment"
        ),
        pytest.param(
            over_time(("env.step", 20, (train(60), env(40, "World.step"), env(20, "World.__init__")))),
            id="a copy that the step makes",
        ),
    ],
)
def test_what_is_built_once_or_is_no_environment_is_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "reset-cost") is None


def test_workers_that_are_started_for_longer_than_the_program_trains_are_built_once() -> None:
    """Starting them is in a span, which is no start-up by the ledger; it is over before the first step all the same."""
    builder = a_recording(seconds=float(SECONDS), facts=FACTS).spans(
        span("made", self_seconds=14.0, phase="other"),
        span("env.step", count=1000, self_seconds=5.0),
        span("backward", count=100, self_seconds=1.0, phase="learn.backward"),
    )
    for second in range(SECONDS):
        starts, trains = {"made": 1.0}, {"env.step": 5 / 6, "backward": 1 / 6}
        own, seen = (starts, (("made", 20, BUILDS[2]),)) if second < 14 else (trains, (STEPS, LEARNS))
        builder.slice_of_time(float(second), second + 1.0, own, seen)
    assert found(builder.counter("env_steps", 1000).counter("updates", 100), "reset-cost") is None


PLAYS = {"episodes": {TRAIN: [[80, 90]]}}
CHECK = train(85, "current_skill")
ASKS: Row = ("forward", 20, (train(75), train(84, "current_skill"), MODULE))
TESTS: Row = ("env.step", 30, (train(75), CHECK, env(40, "World.step")))


def evaluations(*rows: Row, during: range = range(SECONDS), **facts: Any) -> Finding | None:
    return found(over_time(*rows, during=during, **(facts or PLAYS)), "evaluation-cost")


def test_a_function_that_plays_whole_episodes_beside_the_training_loop_is_an_evaluation() -> None:
    finding = evaluations(ASKS, TESTS)
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line) == (TRAIN, 75)
    assert finding.severity == "warning"
    assert "current_skill" in finding.title


def test_what_plays_otherwise_is_left_in_peace() -> None:
    learns: Row = ("backward", 5, (train(75), train(86, "current_skill")))
    own: Row = ("env.step", 30, (train(75), CHECK, FrameSpec("World.step", ENV, 40)))
    assert evaluations(ASKS, TESTS, learns) is None  # it learns
    assert evaluations(ASKS, TESTS, during=range(6)) is None  # it fills a memory before training
    assert evaluations(own) is None  # no network is asked: a search through a model of the world
    assert evaluations(ASKS, TESTS, episodes={TRAIN: []}) is None  # it begins no episode


def test_where_the_training_loop_does_not_step_itself_nobody_knows_which_function_gathers() -> None:
    builder = a_recording(seconds=float(SECONDS), facts={**FACTS, **PLAYS}).spans(
        span("env.step", count=1000, self_seconds=0.6 * SECONDS),
        span("forward", count=1000, self_seconds=0.2 * SECONDS, phase="policy.forward"),
        span("backward", count=100, self_seconds=0.2 * SECONDS, phase="learn.backward"),
    )
    for second in range(SECONDS):
        own = {"env.step": 0.6, "forward": 0.2, "backward": 0.2}
        builder.slice_of_time(float(second), second + 1.0, own, (TESTS, ASKS, LEARNS))
    assert MAIN.file == TRAIN
    assert found(builder.counter("env_steps", 1000), "evaluation-cost") is None
