"""`float64` speaks of trained parameters, `repeat-upload` of rollouts that go to a device in every epoch."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.model.report import Finding
from support.advice import TRAIN, found, train
from support.recordings import FACTS, RecordingBuilder, a_recording, span

ASKED = {"file": TRAIN, "line": 7, "function": "main", "what": "torch.set_default_dtype"}


def training(**facts: Any) -> RecordingBuilder:
    """Ten seconds, of which the network takes six."""
    return (
        a_recording(seconds=10.0, facts={**FACTS, **facts})
        .spans(
            span("env.step", count=1000, self_seconds=3.5, phase="env.step"),
            span("forward", count=1000, self_seconds=2.0, phase="policy.forward"),
            span("backward", count=100, self_seconds=4.0, phase="learn.backward"),
        )
        .counter("env_steps", 8000)
        .sample("backward", 100, train(61, "update"))
    )


def double(counts: Any, asked: Any = ASKED, **facts: Any) -> Finding | None:
    return found(training(trained_parameters=counts, double_precision_asked=asked, **facts), "float64")


def test_networks_of_double_precision_are_named_by_the_line_that_asked_for_it() -> None:
    finding = double({"torch.float64": 5000})
    assert finding is not None
    assert (finding.where[0].line, finding.severity) == (7, "warning")
    assert finding.gain.sps_ratio == pytest.approx(10 / 5.5, rel=0.01)
    assert "torch.set_default_dtype" in finding.cure
    assert finding.changes_learning


def test_without_such_a_line_the_networks_own_lines_are_named() -> None:
    finding = double({"torch.float64": 5000}, asked=None)
    assert finding is not None
    assert finding.where[0].line == 61


@pytest.mark.parametrize(
    "counts",
    [{"torch.float32": 5000}, {"torch.float32": 5000, "torch.float64": 1}, {}, None, {"torch.float64": "many"}],
)
def test_networks_of_single_precision_are_left_in_peace(counts: Any) -> None:
    assert double(counts) is None


def uploading(epochs: int = 4, advantage: bool = True, act_calls: int = 1000, uploads: Any = None) -> Finding | None:
    """A thousand steps of eight environments with observations of 1 kB, and updates that send them again."""
    acting = {"file": TRAIN, "line": 30, "calls": act_calls, "bytes": 8_000_000}
    updating = {"file": TRAIN, "line": 52, "calls": 80, "bytes": epochs * 8_000_000}
    known = uploads if uploads is not None else [acting, updating]
    spans = [
        span("env.step", count=1000, self_seconds=3.5, phase="env.step"),
        span(".to() train.py:52", count=80, self_seconds=3.0, phase="transfer.h2d"),
    ]
    if advantage:
        spans.append(span("advantage", count=10, self_seconds=0.5, phase="advantage"))
    builder = a_recording(seconds=10.0, facts={**FACTS, "gpu": "A100", "uploads": known}).spans(*spans)
    return found(builder.counter("env_steps", 8000), "repeat-upload")


def test_a_rollout_that_is_sent_in_every_epoch_is_named_by_the_line_that_sends_it() -> None:
    finding = uploading()
    assert finding is not None
    assert finding.where[0].line == 52
    times = 32_000_000 / (8_000_000 + 56 * 8000)
    assert finding.evidence["times"] == pytest.approx(times)
    assert finding.gain.high == pytest.approx(10 / (10 - 3.0 * (1 - 1 / times)), rel=0.01)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"epochs": 1}, id="sent once"),
        pytest.param({"advantage": False}, id="a replay buffer"),
        pytest.param({"act_calls": 600}, id="what was collected is of unknown size"),
        pytest.param({"uploads": [{"file": 3}, "x", {"file": TRAIN, "line": "9"}]}, id="facts of another form"),
    ],
)
def test_uploads_that_have_to_be_are_left_in_peace(changes: dict[str, Any]) -> None:
    assert uploading(**changes) is None
