"""`teacher-cost`, `tiny-minibatch` and `distribution-validation`: by shares, and no louder than they can know."""

from __future__ import annotations

import pytest

from support.advice import MODULE, found, train
from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

DISTRIBUTIONS = "/home/ann/venv/lib/python3.11/site-packages/torch/distributions"
CHECK = FrameSpec("_Simplex.check", f"{DISTRIBUTIONS}/constraints.py", 400)
DRAW = FrameSpec("Categorical.sample", f"{DISTRIBUTIONS}/categorical.py", 130)


def taught(calls: int, seconds: float, phase: str | None = "policy.teacher", name: str = "ask") -> RecordingBuilder:
    script = span("agent calls", count=4 * calls, self_seconds=0.9 * seconds)
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=1000, self_seconds=99.0 - seconds),
            span(name, script, count=calls, self_seconds=0.1 * seconds, phase=phase),
        )
        .counter("env_steps", 1000)
        .sample("agent calls", 60, train(5), train(88, "shortest_way"))
        .sample("env.step", 60, train(6))
    )


@pytest.mark.parametrize("builder", [taught(100, 40.0), taught(100, 40.0, None, "teacher")], ids=["phase", "marked"])
def test_a_teacher_is_named_with_its_parts(builder: RecordingBuilder) -> None:
    finding = found(builder, "teacher-cost")
    assert finding is not None
    assert finding.where[0].line == 88
    assert finding.gain.sps_ratio == pytest.approx(100 / 60)
    assert finding.evidence["parts"] == {"agent calls": pytest.approx(36.0)}
    assert "agent calls" in finding.cure
    assert finding.changes_learning


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(taught(100, 9.0), id="a small part"),
        pytest.param(taught(5, 40.0), id="asked a few times"),
        pytest.param(taught(100, 40.0, None, "planner"), id="no teacher"),
    ],
)
def test_a_cheap_or_rare_teacher_is_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "teacher-cost") is None


def rollouts(updates: int, learning: float = 80.0, advantages: int = 10, steps: int = 100_000) -> RecordingBuilder:
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=steps, self_seconds=99.0 - learning),
            span("advantage", count=advantages, self_seconds=0.1 if advantages else 0.0),
            span("backward", count=updates, self_seconds=learning, phase="learn.backward"),
        )
        .counter("env_steps", steps)
        .counter("updates", updates)
        .sample("backward", 60, train(77), MODULE)
    )


def test_many_small_updates_from_a_rollout_are_named_and_explain_their_number() -> None:
    finding = found(rollouts(50_000), "tiny-minibatch")
    assert finding is not None
    assert finding.where[0].line == 77
    assert finding.changes_learning
    assert finding.gain.sps_ratio == pytest.approx(100 / (100 - 80 * (1 - 4 / 1024 / 0.5)))
    assert found(rollouts(50_000), "update-ratio") is None


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(rollouts(3_000), id="large minibatches"),
        pytest.param(rollouts(50_000, learning=40.0), id="learning is not most of it"),
        pytest.param(rollouts(500, steps=1000), id="updates that have work to do"),
        pytest.param(rollouts(50_000, advantages=0), id="no rollouts"),
    ],
)
def test_other_updates_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "tiny-minibatch") is None


def drawing(checks: int, draws: int = 90) -> RecordingBuilder:
    builder = a_recording(seconds=100.0).spans(span("policy.forward", count=1000, self_seconds=99.0))
    builder.counter("env_steps", 1000).sample("policy.forward", draws, train(30), DRAW)
    return builder.sample("policy.forward", checks, train(31), CHECK) if checks else builder


def test_checks_of_distributions_are_information_with_the_line_they_are_made_for() -> None:
    finding = found(drawing(30), "distribution-validation")
    assert finding is not None
    assert (finding.severity, finding.where[0].line) == ("info", 31)
    assert finding.evidence["share_of_training"] == pytest.approx(0.99 * 0.25, rel=0.02)
    assert finding.gain.high > 100 / 75
    assert "NaN" in finding.cure


@pytest.mark.parametrize("checks", [0, 9])
def test_without_checks_or_with_few_samples_nothing_is_said(checks: int) -> None:
    assert found(drawing(checks), "distribution-validation") is None
