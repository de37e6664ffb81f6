"""A trace of torch.profiler (Chrome's JSON, plain or gzipped): operators per thread, profiler steps, the device."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import NotARecording
from rlprof.model.kinds import ITERATION, PROBE
from rlprof.recording.importers.device import CALLS, Event, device_summary
from rlprof.recording.importers.spans import Imported, Span, root, settle_self

#: What runs on the host and nests; Python functions are left out, they would be thousands deep.
HOST: Final = frozenset({"cpu_op", "user_annotation", "Operator"}) | CALLS
STEP: Final = "ProfilerStep#"
#: The phase an operator's name tells, by how the name begins; the first that fits counts.
PHASES: Final = (
    ("Optimizer.step", "learn.optimizer"),
    ("Optimizer.zero_grad", "learn.other"),
    ("autograd::engine", "learn.backward"),
    ("enumerate(DataLoader)", "buffer.sample"),
    ("aten::item", "transfer.sync"),
    ("aten::_local_scalar_dense", "transfer.sync"),
    ("cudaStreamSynchronize", "transfer.sync"),
    ("cudaDeviceSynchronize", "transfer.sync"),
    ("cudaEventSynchronize", "transfer.sync"),
    ("hipStreamSynchronize", "transfer.sync"),
    ("hipDeviceSynchronize", "transfer.sync"),
    ("torch.save", "checkpoint"),
)

Timed = tuple[Event, int, int]


def read_torch_trace(document: Any, file: Path) -> Imported:
    """The trace as spans; the busiest host thread first."""
    events = list(timed_events(document))
    if not events:
        raise NotARecording(f"{file} holds no timed event: it is no trace of torch.profiler")
    zero = min(start for _, start, _ in events)
    wall = max(start + duration for _, start, duration in events) - zero
    threads = sorted(_threads(events), key=lambda found: -found[2])
    if not threads:
        threads = [("device only", root(), 0)]
    settle_self(threads[0][1], wall)
    facts = {"imported": "torch.profiler", "device": device_summary(events, wall), "gpu": _device_name(document)}
    return Imported(
        source=file,
        wall_ns=wall,
        threads=[(name, top) for name, top, _ in threads],
        facts={name: value for name, value in facts.items() if value is not None},
        counters={},
        iterations=_steps(events, zero),
    )


def timed_events(document: Any) -> Iterator[Timed]:
    """Complete events with start and duration in whole nanoseconds."""
    events = document.get("traceEvents") if isinstance(document, dict) else document
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and event.get("ph") == "X" and event.get("cat") != "Trace":
            start, duration = _nanoseconds(event.get("ts")), _nanoseconds(event.get("dur"))
            if start is not None and duration is not None and duration >= 0:
                yield event, start, duration


def _nanoseconds(microseconds: Any) -> int | None:
    if isinstance(microseconds, bool) or not isinstance(microseconds, int | float | Decimal):
        return None
    if isinstance(microseconds, int):
        return microseconds * 1000
    return round(microseconds * 1000) if math.isfinite(microseconds) else None


def _threads(events: list[Timed]) -> Iterator[tuple[str, Span, int]]:
    """(name, tree, time in spans) of every host thread."""

    def place(found: Timed) -> tuple[str, str]:
        return str(found[0].get("pid")), str(found[0].get("tid"))

    host = sorted((found for found in events if found[0].get("cat") in HOST), key=place)
    for (pid, tid), those in groupby(host, place):
        top = root()
        _nest(sorted(those, key=lambda found: (found[1], -found[2])), top)
        yield f"process {pid} thread {tid}", top, sum(child.total_ns for child in top.children.values())


def _nest(events: list[Timed], top: Span) -> None:
    """Put each event below the one that is open when it starts; real traces overlap, and then it ends with that one."""
    stack: list[tuple[Span, int]] = []
    for event, start, length in events:
        while stack and stack[-1][1] <= start:
            stack.pop()
        above = stack[-1][0] if stack else top
        end = min(start + length, stack[-1][1]) if stack else start + length
        name = str(event.get("name", "?"))
        is_step = name.startswith(STEP)
        span = above.child(STEP[:-1] if is_step else name, _phase(name), ITERATION if is_step else PROBE)
        span.add_call(end - start)
        span.self_ns += end - start
        if stack:
            above.self_ns -= end - start
        stack.append((span, end))


def _phase(name: str) -> str | None:
    return next((phase for begin, phase in PHASES if name.startswith(begin)), None)


def _steps(events: list[Timed], zero: int) -> dict[str, list[Any]] | None:
    steps = sorted(
        (start - zero, duration)
        for event, start, duration in events
        if str(event.get("name", "")).startswith(STEP) and event.get("cat") in HOST
    )
    if not steps:
        return None
    return {
        "start_ns": [start for start, _ in steps],
        "duration_ns": [duration for _, duration in steps],
        "env_steps": [0.0] * len(steps),
    }


def _device_name(document: Any) -> str | None:
    found = document.get("deviceProperties") if isinstance(document, dict) else None
    names = [str(each["name"]) for each in found or () if isinstance(each, dict) and "name" in each]
    return names[0] if names else None
