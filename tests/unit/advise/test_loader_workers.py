"""`loader-workers` names the line that draws from a DataLoader whose workers are started too often."""

from __future__ import annotations

import pytest

from support.advice import found, train
from support.recordings import RecordingBuilder, a_recording, span

RULE = "loader-workers"


def loading(starts: int, starting: float, waiting: float, ending: float = 0.0) -> RecordingBuilder:
    """A hundred seconds with a DataLoader in them."""
    stop = span("dataloader.stop", phase="buffer.sample", count=starts, self_seconds=ending)
    return (
        a_recording(seconds=100.0)
        .spans(
            span("env.step", count=1000, self_seconds=99.0 - starting - waiting - ending),
            span("dataloader.start", phase="buffer.sample", count=starts, self_seconds=starting),
            span("dataloader.next", stop, phase="buffer.sample", count=5 * starts, self_seconds=waiting),
        )
        .counter("env_steps", 1000)
        .sample("dataloader.next", 60, train(12, "learn"))
        .sample("env.step", 20, train(9))
    )


def test_workers_that_are_started_for_each_epoch_are_named() -> None:
    finding = found(loading(100, 20.0, 20.0, 10.0), RULE)
    assert finding is not None
    assert finding.where[0].line == 12
    assert finding.severity == "critical"
    assert finding.evidence["starts"] == 100
    assert finding.evidence["batches_per_start"] == pytest.approx(5)
    assert finding.evidence["seconds_loading"] == pytest.approx(50)
    assert finding.gain.sps_ratio == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(loading(2, 20.0, 20.0), id="one loader for training and one for evaluation"),
        pytest.param(loading(100, 4.0, 46.0), id="batches that take long themselves"),
        pytest.param(loading(100, 0.5, 0.5), id="little time in all"),
    ],
)
def test_workers_that_are_worth_their_start_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, RULE) is None
