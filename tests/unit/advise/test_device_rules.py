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


def small_net(**changes: Any) -> list[Finding]:
    """On a trace of a second: 2,000 kernels of 4 µs, whose launches, copies and waits take the host 60 ms."""
    device: dict[str, Any] = {
        "span_seconds": 0.9,
        "trace_seconds": 1.0,
        "busy_seconds": 8e-3,
        "idle_seconds": 0.892,
        "idle_share": 0.99,
        "busy_share": 0.01,
        "kernels": {"count": 2000, "seconds": 8e-3, "mean_seconds": 4e-6},
        "top_kernels": [{"name": "void gemv2T_kernel_val<float>", "count": 900, "seconds": 4e-3}],
        "launches": 2000,
        "launch_seconds": 0.01,
        "memcpy": {"HtoD": {"seconds": 0.02}, "DtoH": {"seconds": 0.02}, "DtoD": {"seconds": 0.5}},
        "syncs": {"cudaStreamSynchronize": {"seconds": 0.15}},
        **changes,
    }
    recording = a_recording(seconds=10.0).spans(span("env.step", phase="env.step", self_seconds=10.0)).build()
    report = dataclasses.replace(build_report(recording), device=device)
    return [found for found in advise(recording, report) if found.rule in ("device-too-small-net", "device-idle")]


def test_a_network_that_is_launched_longer_than_it_computes_may_be_better_off_on_the_cpu() -> None:
    (found,) = small_net()
    assert found.rule == "device-too-small-net"
    assert found.evidence["host_seconds"] == pytest.approx(0.2)
    assert found.gain.high == pytest.approx(1 / 0.8)
    assert "cpu" in found.cure


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"top_kernels": [{"name": "cudnn::winograd_nonfused::fprop"}]}, id="convolutions"),
        pytest.param({"kernels": {"count": 2000, "seconds": 0.4, "mean_seconds": 2e-4}}, id="long kernels"),
        pytest.param({"launches": 50}, id="few launches"),
        pytest.param({"launch_seconds": 0.004, "memcpy": {}, "syncs": {}}, id="launched quickly"),
    ],
)
def test_networks_that_keep_a_device_busy_belong_there(changes: dict[str, Any]) -> None:
    assert [found.rule for found in small_net(**changes)] in (["device-idle"], [])


def test_an_older_recording_that_has_no_time_of_launches_is_judged_by_their_number() -> None:
    (found,) = small_net(launch_seconds=None, memcpy={}, syncs={}, launches=20_000)
    assert found.evidence["host_seconds"] == pytest.approx(0.1)
