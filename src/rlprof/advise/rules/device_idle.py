"""`device-idle`: a trace shows that the device waits for the host for much of its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlprof.advise.bounds import LARGEST_RATIO, severity_of
from rlprof.advise.verify import run_again
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "device-idle"
#: Below this, gaps between kernels are what any eager program has.
SMALLEST_IDLE: Final = 0.30
FEWEST_KERNELS: Final = 20
PHASES_NAMED: Final = 3


def device_idle(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks on a trace whose device is idle for a good part of its own span, from its first activity to its last."""
    device = report.device
    if not device or device["idle_share"] is None or device["kernels"]["count"] < FEWEST_KERNELS:
        return
    idle, busy = float(device["idle_share"]), float(device["busy_seconds"])
    if idle < SMALLEST_IDLE or busy <= 0:
        return
    highest = min(float(device["span_seconds"]) / busy, LARGEST_RATIO)
    gain = Gain(sps_ratio=highest, low=1.0, high=highest)
    severity = severity_of(gain)
    if severity is None:
        return
    host = [entry for entry in report.phases if entry.share >= 0.05][:PHASES_NAMED]
    yield Finding(
        rule=RULE,
        severity=severity,
        title=f"the device is idle for {format_percent(idle)} of its span ({format_duration(device['idle_seconds'])})",
        evidence={
            "phases": [],
            "idle_share_of_device_span": idle,
            "busy_seconds": busy,
            "span_seconds": device["span_seconds"],
            "kernels": device["kernels"],
            "host_phases": {entry.phase: entry.share for entry in host},
        },
        where=(),
        gain=gain,
        cure=_cure(device, [entry.phase for entry in host]),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _cure(device: Mapping[str, Any], phases: list[str]) -> str:
    meanwhile = f" (the host is mostly in {', '.join(phases)})" if phases else ""
    return (
        f"give the device something to do while the host works{meanwhile}: more environments per forward, the next "
        "rollout or batch prepared while the last one is learned from (`DataLoader(num_workers=..., pin_memory=True)`, "
        "a collector in a process of its own), no `.item()` between launches. A utilisation counter such as "
        "nvidia-smi's overstates: it counts a moment as busy in which one kernel ran"
    )
