"""What a torch trace says about the device: when it was busy, what it copied, and who waited for it.

Busy is the union of kernels, copies and fills in whole nanoseconds; idle is the rest of the device's span, from the
first of them to the end of the last. Old traces write `Kernel` and `Memcpy`, new ones `kernel` and `gpu_memcpy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

KERNELS: Final = frozenset({"kernel", "Kernel"})
COPIES: Final = frozenset({"gpu_memcpy", "Memcpy"})
FILLS: Final = frozenset({"gpu_memset", "Memset"})
CALLS: Final = frozenset(
    {"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "hip_driver", "xpu_runtime", "xpu_driver"}
    | {"privateuse1_runtime", "privateuse1_driver", "mtia_runtime"}
)
DIRECTIONS: Final = {
    "HtoD": ("HtoD", "HostToDevice"),
    "DtoH": ("DtoH", "DeviceToHost"),
    "DtoD": ("DtoD", "DeviceToDevice", "PtoP"),
}
MOST_KERNELS: Final = 20

Event = Mapping[str, Any]
Interval = tuple[int, int]


def device_summary(events: Iterable[tuple[Event, int, int]], trace_ns: int) -> dict[str, Any] | None:
    """Figures of all device activity, or None where there is none. Events come with start and duration in ns."""
    intervals: dict[str, list[Interval]] = {}  # by device
    kernels: dict[str, list[int]] = {}
    copies: dict[str, list[int]] = {name: [0, 0, 0] for name in DIRECTIONS}
    fills, syncs = [0, 0], dict[str, list[int]]()
    launches = [0, 0]
    for event, start, duration in events:
        category, name = event.get("cat"), str(event.get("name", ""))
        if category in KERNELS:
            _count(kernels.setdefault(name, [0, 0]), duration)
        elif category in COPIES:
            _copy(copies, name, duration, event)
        elif category in FILLS:
            _count(fills, duration)
        else:
            if category in CALLS:
                if "LaunchKernel" in name or "GraphLaunch" in name:
                    _count(launches, duration)
                if "Synchronize" in name:
                    _count(syncs.setdefault(name, [0, 0]), duration)
            continue
        intervals.setdefault(_device(event), []).append((start, start + duration))
    if not intervals:
        return None
    return {
        **_spans([each for found in intervals.values() for each in found]),
        "trace_seconds": trace_ns / 1e9,
        "devices": {name: _spans(intervals[name]) for name in sorted(intervals)},
        **_kernels(kernels),
        "launches": launches[0],
        "launch_seconds": launches[1] / 1e9,
        "memcpy": {n: {"count": c, "seconds": t / 1e9, "bytes": size} for n, (c, t, size) in copies.items()},
        "memset": {"count": fills[0], "seconds": fills[1] / 1e9},
        "syncs": {name: {"count": count, "seconds": spent / 1e9} for name, (count, spent) in sorted(syncs.items())},
    }


def _device(event: Event) -> str:
    """Which one it was: traces say so in the event's arguments, and keep a process for each."""
    arguments = event.get("args")
    found = arguments.get("device") if isinstance(arguments, dict) else None
    return str(event.get("pid") if found is None else found)


def _count(total: list[int], duration: int) -> None:
    total[0] += 1
    total[1] += duration


def _copy(copies: dict[str, list[int]], name: str, duration: int, event: Event) -> None:
    fitting = (each for each, words in DIRECTIONS.items() if any(word in name for word in words))
    direction = next(fitting, "other")
    found = copies.setdefault(direction, [0, 0, 0])
    _count(found, duration)
    arguments = event.get("args")
    size = arguments.get("bytes", arguments.get("Bytes", 0)) if isinstance(arguments, dict) else 0
    found[2] += int(size) if isinstance(size, int | float) and 0 <= size < 1 << 60 else 0


def _spans(intervals: list[Interval]) -> dict[str, Any]:
    busy = union_ns(intervals)
    span = max(end for _, end in intervals) - min(start for start, _ in intervals)
    idle = span - busy
    return {
        "span_seconds": span / 1e9,
        "busy_seconds": busy / 1e9,
        "idle_seconds": idle / 1e9,
        "busy_share": busy / span if span else None,
        "idle_share": idle / span if span else None,
    }


def union_ns(intervals: Iterable[Interval]) -> int:
    """The time that is covered by at least one of these."""
    covered, reached = 0, None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        if end > begin:
            covered += end - begin
        reached = end if reached is None else max(reached, end)
    return covered


def _kernels(kernels: Mapping[str, list[int]]) -> dict[str, Any]:
    count, spent = sum(found[0] for found in kernels.values()), sum(found[1] for found in kernels.values())
    longest = sorted(kernels.items(), key=lambda item: (-item[1][1], item[0]))[:MOST_KERNELS]
    return {
        "kernels": {"count": count, "seconds": spent / 1e9, "mean_seconds": spent / count / 1e9 if count else None},
        "top_kernels": [{"name": name, "count": c, "seconds": t / 1e9} for name, (c, t) in longest],
    }


def joined(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of several traces together; what passed between them is in none."""
    if len(several) == 1:
        return several[0]
    total: dict[str, Any] = {}
    for found in several:
        _add_up(total, {name: value for name, value in found.items() if name != "top_kernels"})
    kernels: dict[str, list[Any]] = {}
    for kernel in (kernel for found in several for kernel in found["top_kernels"]):
        sums = kernels.setdefault(kernel["name"], [0, 0.0])
        sums[0] += kernel["count"]
        sums[1] += kernel["seconds"]
    longest = sorted(kernels.items(), key=lambda item: (-item[1][1], item[0]))[:MOST_KERNELS]
    count = total["kernels"]["count"]
    for sums in (total, *total.get("devices", {}).values()):
        span = sums["span_seconds"]
        sums["busy_share"] = sums["busy_seconds"] / span if span else None
        sums["idle_share"] = sums["idle_seconds"] / span if span else None
    total["kernels"]["mean_seconds"] = total["kernels"]["seconds"] / count if count else None
    total["top_kernels"] = [{"name": name, "count": c, "seconds": t} for name, (c, t) in longest]
    return total


def _add_up(total: dict[str, Any], found: Mapping[str, Any]) -> None:
    for name, value in found.items():
        if isinstance(value, Mapping):
            _add_up(total.setdefault(name, {}), value)
        else:
            total[name] = (total.get(name) or 0) + (value or 0)
