"""Rules about the device speak on the figures of a trace, and the cause outranks its victim."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rlprof.advise.engine import advise
from rlprof.analyse.report import build_report
from rlprof.model.report import Finding
from support.recordings import a_recording, span


def findings(idle: float, kernels: int, mean: float, launches: int | None = None) -> tuple[Finding, ...]:
    """On a trace whose device is idle for that share, with so many kernels of that length."""
    busy = kernels * mean
    whole = busy / (1 - idle)
    device: dict[str, Any] = {
        "span_seconds": whole,
        "busy_seconds": busy,
        "idle_seconds": whole - busy,
        "idle_share": idle,
        "busy_share": 1 - idle,
        "kernels": {"count": kernels, "seconds": busy, "mean_seconds": mean},
        "launches": kernels if launches is None else launches,
    }
    recording = a_recording(seconds=10.0).spans(span("env.step", phase="env.step", self_seconds=10.0)).build()
    report = dataclasses.replace(build_report(recording), device=device)
    return tuple(found for found in advise(recording, report) if found.rule in ("device-idle", "launch-bound"))


def test_a_device_that_waits_is_named_with_the_bound_of_its_span() -> None:
    (found,) = findings(idle=0.5, kernels=1000, mean=1e-3)
    assert (found.rule, found.severity) == ("device-idle", "critical")
    assert found.gain.high == pytest.approx(2.0)
    assert found.evidence["host_phases"] == {"env.step": pytest.approx(1.0)}
    assert "env.step" in found.cure


def test_a_busy_device_is_left_in_peace() -> None:
    assert findings(idle=0.25, kernels=1000, mean=1e-3) == ()
    assert findings(idle=0.9, kernels=5, mean=1e-3) == ()  # too few to tell


def test_tiny_kernels_launched_one_after_the_other_are_the_cause_of_idling() -> None:
    (found,) = findings(idle=0.9, kernels=5000, mean=5e-6)
    assert found.rule == "launch-bound"
    assert found.evidence["seconds_between_launches"] == pytest.approx(50e-6)


def test_tiny_kernels_far_apart_are_not_what_the_device_waits_for() -> None:
    (found,) = findings(idle=0.99, kernels=5000, mean=5e-6)
    assert found.rule == "device-idle"


def test_kernels_that_a_graph_launches_are_not_bound_by_launches() -> None:
    (found,) = findings(idle=0.6, kernels=5000, mean=5e-6, launches=10)
    assert found.rule == "device-idle"
