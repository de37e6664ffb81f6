"""Whether resident memory keeps rising after the run has settled: a leak, and no buffer that fills.

What is allocated once shows as a jump; what is kept of every step shows as a rise that never rests. So does an array
that was made at the start and is filled row by row, as zeros take no memory before they are written over: but nothing
more is allocated meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.pace import Pace
from rlprof.analyse.trend import Line, sen_line
from rlprof.model.recording import FloatColumn, IntColumn, MemoryTable
from rlprof.model.units import BYTES_PER_MB

#: The first part of a run fills caches and pools.
SETTLING: Final = 0.2
FEWEST_SAMPLES: Final = 16
SHORTEST_SECONDS: Final = 1.5
#: The rest is looked at in pieces of as many env steps each; each must lie higher than the one before. Pieces of time
#: would rest where the program did because the machine was busy with something else.
PIECES: Final = 8
#: No piece rises by less than this part of the mean rise, and none by more than that part of the whole.
SMALLEST_PART: Final = 0.2
LARGEST_PART: Final = 0.4
#: Less than this may be anything.
SMALLEST_MB: Final = 16.0
SMALLEST_SHARE: Final = 0.05
MOST_POINTS: Final = 200
#: What must be allocated for each byte that becomes resident, where it is known: else it was allocated before.
LEAST_ALLOCATED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Leak:
    """A rise of resident memory that does not rest. `line` is in MB per minute."""

    line: Line
    first_mb: float
    last_mb: float
    seconds: float
    bytes_per_step: float
    may_fill: bool  # a replay buffer was written to meanwhile: it may be that which grows


def leak_of(memory: MemoryTable, pace: Pace | None, allocated: Any = None) -> Leak | None:
    """The rise after start-up; None where memory rests, was allocated before, or too little was seen.

    `allocated` is the fact of what was allocated at which moments; it may be missing, or damaged.
    """
    if pace is None:
        return None
    start, end = int(pace.start_ns[0]), int(pace.end_ns[-1])
    begin = start + int(SETTLING * (end - start))
    rows = (memory.at_ns >= begin) & (memory.at_ns <= end)
    at, size = memory.at_ns[rows], memory.rss_bytes[rows] / BYTES_PER_MB
    seconds = (end - begin) / NS_PER_SECOND
    if len(at) < FEWEST_SAMPLES or seconds < SHORTEST_SECONDS:
        return None
    levels = _levels(size, _steps_at(at, pace))
    if levels is None or not _rises_without_rest(levels):
        return None
    more = _allocated_between(allocated, begin, end)
    if more is not None and more < LEAST_ALLOCATED * float(levels[-1] - levels[0]):
        return None
    kept = np.unique(np.linspace(0, len(at) - 1, min(len(at), MOST_POINTS)).astype(np.int64))
    line = sen_line((at[kept] - at[0]) / (60 * NS_PER_SECOND), size[kept])
    if line is None or line.low <= 0:
        return None
    steps = float(pace.steps[pace.start_ns >= begin].sum())
    return Leak(
        line=line,
        first_mb=float(levels[0]),
        last_mb=float(levels[-1]),
        seconds=seconds,
        bytes_per_step=float(levels[-1] - levels[0]) * PIECES / (PIECES - 1) * BYTES_PER_MB / max(steps, 1.0),
        may_fill=_may_fill(pace),
    )


def _steps_at(at: IntColumn, pace: Pace) -> FloatColumn:
    """Env steps that were done at these moments."""
    moments = np.concatenate((pace.start_ns[:1], pace.end_ns))
    return np.interp(at, moments, np.concatenate(([0.0], np.cumsum(pace.steps))))


def _levels(size: FloatColumn, steps: FloatColumn) -> FloatColumn | None:
    """The typical size in each piece; None where a piece has no sample."""
    if steps[-1] <= steps[0]:
        return None
    piece = np.minimum((steps - steps[0]) / (steps[-1] - steps[0]) * PIECES, PIECES - 1).astype(np.int64)
    found = [size[piece == index] for index in range(PIECES)]
    return np.array([float(np.median(part)) for part in found]) if all(len(part) for part in found) else None


def _rises_without_rest(levels: FloatColumn) -> bool:
    rises, whole = np.diff(levels), float(levels[-1] - levels[0])
    if whole < max(SMALLEST_MB, SMALLEST_SHARE * float(levels[0])):
        return False
    return bool((rises >= SMALLEST_PART * whole / len(rises)).all() and (rises <= LARGEST_PART * whole).all())


def _allocated_between(fact: Any, begin: int, end: int) -> float | None:
    """MB that the process has asked for meanwhile; None where nobody knows. Only changes were noted."""
    rows = [row for row in fact if _is_row(row)] if isinstance(fact, list) else []
    if not rows or rows[0][0] > begin:
        return None
    before, after = ([size for at, size in rows if at <= moment][-1] for moment in (begin, end))
    return float(after - before) / BYTES_PER_MB


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(type(value) is int for value in row)


def _may_fill(pace: Pace) -> bool:
    """Replay buffers fill for as long as they please. Those of rollouts begin anew, and have advantages."""
    written = pace.calls.get("buffer.add")
    return written is not None and bool(written.any()) and "advantage" not in pace.own_ns
