"""`forward-beside-loss` holds forwards without gradients against those of the losses."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.model.report import Finding
from support.advice import MODULE, TRAIN, found, train
from support.recordings import FACTS, a_recording, span

CHECK = train(21, "divergence")


def judged(beside: int, losses: int, steps: int = 1000, facts: dict[str, Any] | None = None) -> Finding | None:
    noted = {"no_grad": {TRAIN: [[20, 22]]}} if facts is None else facts
    builder = a_recording(seconds=100.0, facts={**FACTS, **noted}).spans(
        span("env.step", count=steps, self_seconds=20.0) if steps else span("own", self_seconds=20.0),
        span("loss", span("forward", count=900, self_seconds=60.0, phase="learn.loss"), phase="learn.loss"),
        span("backward", count=100, self_seconds=20.0, phase="learn.backward"),
    )
    builder.counter("env_steps", 1000).sample("forward", beside, train(70), CHECK, MODULE)
    builder.sample("forward", losses, train(60), MODULE)
    return found(builder, "forward-beside-loss")


def test_a_rollout_that_is_asked_about_at_each_minibatch_is_named_by_its_line() -> None:
    finding = judged(400, 40)
    assert finding is not None
    assert (finding.where[0].file, finding.where[0].line) == (TRAIN, 21)
    assert finding.evidence["times_the_losses"] == pytest.approx(10.0)
    assert finding.evidence["beside_seconds"] == pytest.approx(60.0 * 400 / 440)
    assert finding.severity == "info"


def test_what_asks_as_a_target_does_is_left_in_peace() -> None:
    assert judged(200, 100) is None


def test_where_it_cannot_be_told_nothing_is_said() -> None:
    assert judged(400, 40, facts={}) is None  # no source
    assert judged(400, 40, steps=0) is None  # it may be how the program acts
    assert judged(20, 2) is None  # few samples
