"""How much memory the run took and whether it keeps growing."""

from __future__ import annotations

from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.model.recording import FloatColumn, Process, Recording
from rlprof.model.report import Memory
from rlprof.model.units import BYTES_PER_MB

#: A slope over less time than this says nothing about growth.
SHORTEST_SECONDS: Final = 30.0
#: Theil-Sen looks at every pair of points, so the series is thinned first: 300 points are 45,000 pairs.
MOST_POINTS: Final = 300


def memory_of(recording: Recording) -> Memory:
    """Resident memory of the main process; device memory of whichever process held most."""
    main = recording.main
    return Memory(
        rss_peak_mb=rss_peak_mb(main),
        rss_slope_mb_per_min=rss_slope_mb_per_min(main),
        gpu_peak_mb=max((peak for p in recording.processes if (peak := gpu_peak_mb(p)) is not None), default=None),
    )


def rss_peak_mb(process: Process) -> float | None:
    """The highest resident size seen, by the sampler or inside a span."""
    spans = [stats.rss_peak_bytes for stats in process.stats.values() if stats.rss_peak_bytes is not None]
    samples = process.memory.rss_bytes
    sampled = [int(samples.max())] if len(samples) else []
    return max(spans + sampled, default=0) / BYTES_PER_MB if spans or sampled else None


def gpu_peak_mb(process: Process) -> float | None:
    """The highest device memory sampled; None where there is no device."""
    samples = process.memory.device_bytes
    known = samples[samples >= 0]
    return float(known.max()) / BYTES_PER_MB if len(known) else None


def rss_slope_mb_per_min(process: Process) -> float | None:
    """The typical growth, by Theil-Sen: one jump, or a filling buffer's first seconds, do not tilt it."""
    at = process.memory.at_ns
    if len(at) < 3 or (int(at.max()) - int(at.min())) / NS_PER_SECOND < SHORTEST_SECONDS:
        return None
    kept = np.unique(np.linspace(0, len(at) - 1, min(len(at), MOST_POINTS)).astype(np.int64))
    minutes = (at[kept] - at[0]) / (60 * NS_PER_SECOND)
    return theil_sen(minutes, process.memory.rss_bytes[kept] / BYTES_PER_MB)


def theil_sen(x: FloatColumn, y: FloatColumn) -> float | None:
    """The median slope over all pairs of points; None where all lie at one x."""
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    apart = run != 0
    if not apart.any():
        return None
    return float(np.median((y[second] - y[first])[apart] / run[apart]))
