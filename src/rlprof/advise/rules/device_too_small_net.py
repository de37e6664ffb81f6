"""`device-too-small-net`: launching a network's kernels takes the host longer than the device takes to run them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlprof.advise.bounds import LARGEST_RATIO, severity_of
from rlprof.advise.verify import run_again
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "device-too-small-net"
FEWEST_LAUNCHES: Final = 100
SHORT_KERNEL_SECONDS: Final = 10e-6
#: What the host spends on the device beside computing, for each second of kernels.
TIMES_KERNELS: Final = 2.0
#: Launches that a trace has no duration of are taken to be this long.
LAUNCH_SECONDS: Final = 5e-6
#: Kernels of convolutions and attention are work that no CPU does as quickly, however short they are.
_NOT_SMALL: Final = re.compile(
    r"conv|winograd|wgrad|dgrad|implicit_gemm|im2col|flash|attention|fmha|nccl", re.IGNORECASE
)


def device_too_small_net(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks on a trace whose kernels are few and short beside launches, copies and waiting for them."""
    device = report.device
    if not device or int(device.get("launches") or 0) < FEWEST_LAUNCHES:
        return
    kernels, host = device["kernels"], _host_seconds(device)
    mean = kernels["mean_seconds"]
    if mean is None or mean >= SHORT_KERNEL_SECONDS or host < TIMES_KERNELS * kernels["seconds"] or _is_large(device):
        return
    whole = max(float(device.get("trace_seconds") or 0.0), float(device["span_seconds"]))
    highest = min(whole / max(whole - host, whole / LARGEST_RATIO), LARGEST_RATIO) if whole > 0 else 1.0
    gain = Gain(sps_ratio=highest, low=1.0, high=highest)
    severity = severity_of(gain)
    if severity is None:
        return
    yield Finding(
        rule=RULE,
        severity=severity,
        title=(
            f"the device computes for {format_duration(kernels['seconds'])}, and the host spends "
            f"{format_duration(host)} on launches, copies and waiting ({format_percent(host / whole)} of the trace)"
        ),
        evidence={
            "phases": [],
            "kernel_seconds": kernels["seconds"],
            "mean_kernel_seconds": mean,
            "launches": device["launches"],
            "host_seconds": host,
            "trace_seconds": whole,
        },
        where=(),
        gain=gain,
        cure=(
            "run a network as small as this on the CPU (`device='cpu'`, and `torch.set_num_threads(1)` to begin with), "
            "or make its launches few: `torch.compile(policy, mode='reduce-overhead')`, CUDA graphs, more environments "
            "per forward. Measure both: with larger batches or convolutions the device wins"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _host_seconds(device: Mapping[str, Any]) -> float:
    """What would not be there without a device: launches, copies to and from it, waiting for it."""
    launching = device.get("launch_seconds")
    if launching is None:
        launching = int(device["launches"]) * LAUNCH_SECONDS
    copies = device.get("memcpy") or {}
    copying = sum(float(copies[name]["seconds"]) for name in ("HtoD", "DtoH") if name in copies)
    waiting = sum(float(each["seconds"]) for each in (device.get("syncs") or {}).values())
    return float(launching) + copying + waiting


def _is_large(device: Mapping[str, Any]) -> bool:
    return any(_NOT_SMALL.search(str(kernel.get("name", ""))) for kernel in device.get("top_kernels") or ())
