"""`launch-bound`: the device runs many tiny kernels, and waits for the host to launch each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import LARGEST_RATIO, severity_of
from rlprof.advise.verify import run_again
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import format_count, format_duration, format_percent

RULE: Final = "launch-bound"
SHORT_KERNEL_SECONDS: Final = 10e-6
FEWEST_LAUNCHES: Final = 100
SMALLEST_IDLE: Final = 0.30
#: The host must be at it: an operator of eager torch takes it 20 to 100 µs, with its Python around it.
CLOSE_LAUNCHES_SECONDS: Final = 100e-6


def launch_bound(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where kernels are short, come one after the other, and the device is idle between them."""
    device = report.device
    if not device or device["idle_share"] is None or device["idle_share"] < SMALLEST_IDLE:
        return
    kernels, launches = device["kernels"], int(device["launches"])
    mean = kernels["mean_seconds"]
    if launches < FEWEST_LAUNCHES or mean is None or mean >= SHORT_KERNEL_SECONDS or device["busy_seconds"] <= 0:
        return
    apart = device["span_seconds"] / launches
    if apart > CLOSE_LAUNCHES_SECONDS:
        return  # the host does something else between launches: see device-idle
    highest = min(device["span_seconds"] / device["busy_seconds"], LARGEST_RATIO)
    gain = Gain(sps_ratio=highest, low=1.0, high=highest)
    severity = severity_of(gain)
    if severity is None:
        return
    yield Finding(
        rule=RULE,
        severity=severity,
        title=(
            f"{format_count(launches)} launches of kernels that take {format_duration(mean)} each; the device is idle "
            f"for {format_percent(device['idle_share'])} of its span"
        ),
        evidence={
            "phases": [],
            "launches": launches,
            "mean_kernel_seconds": mean,
            "seconds_between_launches": apart,
            "idle_share_of_device_span": device["idle_share"],
        },
        where=(),
        gain=gain,
        cure=(
            "launch fewer, larger kernels: `torch.compile(policy, mode='reduce-overhead')` or CUDA graphs for the "
            "update and for acting, `foreach=True` or `fused=True` optimizers, larger minibatches (which change what "
            "is learned), more environments per forward. Small networks may be faster on the CPU: measure both"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )
