"""`unbatched-inference`, `update-ratio` and `advantage-loop` go by counts and shares, not by names."""

from __future__ import annotations

import pytest

from support.advice import MODULE, SB3, found, train
from support.recordings import RecordingBuilder, a_recording, span


def acting(forwards: int, envs: int = 16, steps: int = 1000) -> RecordingBuilder:
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=steps, self_seconds=50.0),
            span("forward", count=forwards, self_seconds=50.0, phase="policy.forward"),
        )
        .counter("env_steps", envs * steps)
        .sample("forward", 30, train(25), MODULE)
        .sample("forward", 30, train(25), MODULE, train(8, "Policy.forward"))
    )


def test_a_forward_for_each_environment_is_named_by_the_line_that_asks() -> None:
    finding = found(acting(16_000), "unbatched-inference")
    assert finding is not None
    assert finding.where[0].line == 25
    assert finding.evidence["forwards_per_step"] == pytest.approx(16)
    assert finding.gain.sps_ratio == pytest.approx(100 / (100 - 50 * 15 / 16))


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(acting(1_000), id="one for all"),
        pytest.param(acting(2_000, envs=2), id="actor and critic of two environments"),
        pytest.param(acting(1_000, envs=1), id="a single environment"),
    ],
)
def test_batches_and_single_environments_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "unbatched-inference") is None


def in_turn(forwards: int, envs: float, steps: int = 16_000) -> RecordingBuilder:
    """Single environments that are stepped by one call each."""
    builder = acting(forwards, envs=1, steps=steps)
    builder.facts = {**builder.facts, "envs_in_turn": envs}
    return builder


def test_single_environments_that_take_turns_are_as_good_as_a_vector() -> None:
    finding = found(in_turn(16_000, 15.96), "unbatched-inference")
    assert finding is not None
    assert finding.evidence["forwards_per_step"] == pytest.approx(16)
    assert finding.evidence["envs"] == 16
    assert finding.gain.sps_ratio == pytest.approx(100 / (100 - 50 * 15 / 16))


@pytest.mark.parametrize("builder", [in_turn(1_000, 16.0), in_turn(16_000, 1.0), in_turn(16_000, 2.0)])
def test_one_forward_for_all_that_take_turns_or_few_of_them_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "unbatched-inference") is None


def agents(forwards: int, loop: list[object], steps: int = 1000) -> RecordingBuilder:
    """One environment, stepped on line 30, with many forwards for each step from line 25."""
    builder = acting(forwards, envs=1, steps=steps).sample("env.step", 30, train(30))
    builder.facts = {**builder.facts, "loops": {train(25).file: [loop, [10, 40, False]]}}
    return builder


def test_a_loop_of_forwards_in_each_step_is_worth_a_word_as_they_may_need_each_other() -> None:
    finding = found(agents(12_000, [24, 27, False]), "unbatched-inference")
    assert finding is not None
    assert (finding.severity, finding.where[0].line) == ("info", 25)
    assert finding.evidence["forwards_per_step"] == pytest.approx(12)


@pytest.mark.parametrize("builder", [agents(3_000, [24, 27, False]), agents(12_000, [20, 31, False])])
def test_few_forwards_or_a_loop_that_steps_the_environment_are_none(builder: RecordingBuilder) -> None:
    assert found(builder, "unbatched-inference") is None


def test_forwards_of_an_evaluation_are_not_those_of_acting() -> None:
    builder = a_recording(seconds=100.0).spans(
        span("env.step", count=1000, self_seconds=50.0),
        span("forward", count=1000, self_seconds=10.0, phase="policy.forward"),
        span("evaluate", span("forward", count=90_000, self_seconds=39.0, phase="policy.forward"), count=9),
    )
    builder.counter("env_steps", 16_000).sample("forward", 30, train(25), MODULE)
    assert found(builder, "unbatched-inference") is None


def learning(updates: int, share: float = 0.9, steps: int = 1000) -> RecordingBuilder:
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=steps, self_seconds=100.0 * (1 - share)),
            span("backward", count=updates, self_seconds=100.0 * share, phase="learn.backward"),
        )
        .counter("env_steps", steps)
        .counter("updates", updates)
        .sample("backward", 60, train(77), MODULE)
    )


def test_many_updates_are_named_and_change_what_is_learned() -> None:
    finding = found(learning(8000), "update-ratio")
    assert finding is not None
    assert finding.changes_learning
    assert finding.severity == "critical"
    assert finding.where[0].line == 77
    assert finding.gain.sps_ratio == pytest.approx(100 / (100 - 90 * (1 - 0.25 / 8)))


def test_what_algorithms_do_by_default_is_only_information() -> None:
    finding = found(learning(3000), "update-ratio")
    assert finding is not None
    assert finding.severity == "info"


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(learning(200), id="few updates"),
        pytest.param(learning(8000, share=0.3), id="learning is not most of it"),
    ],
)
def test_few_or_cheap_updates_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "update-ratio") is None


def advantages(seconds: float, steps: int = 10_000) -> RecordingBuilder:
    return (
        a_recording(seconds=100.0)
        .spans(span("env.step", count=steps, self_seconds=99.0 - seconds), span("advantage", self_seconds=seconds))
        .counter("env_steps", steps)
    )


def test_advantages_that_take_long_are_named_by_their_line() -> None:
    finding = found(advantages(30.0).sample("advantage", 60, train(5), train(50, "gae")), "advantage-loop")
    assert finding is not None
    assert finding.where[0].line == 50
    assert finding.gain.sps_ratio == pytest.approx(100 / 70)


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(advantages(2.0).sample("advantage", 60, train(50, "gae")), id="a small part"),
        pytest.param(advantages(30.0, 100_000_000).sample("advantage", 60, train(50, "gae")), id="cheap for each"),
        pytest.param(advantages(30.0).sample("advantage", 60, train(5), SB3), id="a library's"),
    ],
)
def test_cheap_advantages_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "advantage-loop") is None
