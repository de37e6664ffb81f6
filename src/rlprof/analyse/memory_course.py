"""Memory over time, thinned so that no peak is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.model.recording import IntColumn, Process, Recording
from rlprof.model.units import BYTES_PER_MB

MOST_POINTS: Final = 200
#: Curves that can be told apart; the largest ones are kept.
MOST_CURVES: Final = 16


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    process: int
    pid: int
    role: str
    device: bool  # device memory, not resident
    at_s: tuple[float, ...]
    mb: tuple[float, ...]


def memory_curves(recording: Recording) -> tuple[MemoryCurve, ...]:
    """Resident memory of every process, then device memory; those with the highest peaks where there are many."""
    zero = recording.main.start_ns
    curves = [
        curve
        for device in (False, True)
        for process in recording.processes
        if (curve := _curve(process, zero, device=device)) is not None
    ]
    highest = sorted(curves, key=lambda curve: max(curve.mb), reverse=True)[:MOST_CURVES]
    return tuple(curve for curve in curves if curve in highest)


def _curve(process: Process, zero: int, *, device: bool) -> MemoryCurve | None:
    table = process.memory
    values = table.device_bytes if device else table.rss_bytes
    known = values >= 0 if device else values > 0
    at, values = table.at_ns[known], values[known]
    if len(at) < 2:
        return None
    at, values = _peaks(at, values)
    return MemoryCurve(
        process=process.id,
        pid=process.pid,
        role=process.role,
        device=device,
        at_s=tuple(((at - zero) / NS_PER_SECOND).tolist()),
        mb=tuple((values / BYTES_PER_MB).tolist()),
    )


def _peaks(at: IntColumn, values: IntColumn) -> tuple[IntColumn, IntColumn]:
    """The highest sample of each stretch of time, where there are more samples than a chart has columns."""
    if len(at) <= MOST_POINTS:
        return at, values
    edges = np.linspace(0, len(at), MOST_POINTS + 1).astype(np.int64)[:-1]
    highest = np.maximum.reduceat(values, edges)
    return at[edges], highest
