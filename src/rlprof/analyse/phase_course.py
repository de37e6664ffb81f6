"""The phases of the main process, and its speed, on an even grid of time: what a chart over time is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.course import Course
from rlprof.analyse.grid import Slices, spread
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.throughput import ENV_STEPS, counter_slices, run_end_ns
from rlprof.model.recording import Recording

#: A chart has no more columns than this, and no shorter ones.
MOST_CELLS: Final = 200
SHORTEST_SECONDS: Final = 0.5
#: What has less than this share of every cell cannot be seen.
SMALLEST_SHARE: Final = 0.002


@dataclass(frozen=True, slots=True)
class PhaseCourse:
    """One entry per cell; `edges_s` has one more. Shares are of the cell; what is missing to 1 is rlprof's helpers."""

    edges_s: tuple[float, ...]
    shares: Mapping[str, tuple[float, ...]]  # by phase, and unattributed
    sps: tuple[float, ...] | None  # None where env steps were not counted


def cell_ns_of(start_ns: int, end_ns: int) -> int:
    """How long the cells of a chart over this time are."""
    return max(round(SHORTEST_SECONDS * NS_PER_SECOND), -(-(end_ns - start_ns) // MOST_CELLS))


def phase_course_of(recording: Recording, course: Course) -> PhaseCourse | None:
    """None where the recording is too short for a course: less than two cells."""
    start, end = recording.main.start_ns, run_end_ns(recording)
    cell = cell_ns_of(start, end)
    if end - start < 2 * cell:
        return None
    slices = course.slices
    shares: dict[str, tuple[float, ...]] = {}
    edges = np.array([start, end], np.int64)
    for part, own in slices.own_ns.items():
        if not part:  # the root's own time is in the unattributed
            continue
        amounts, edges = spread(Slices(slices.start_ns, slices.end_ns, own), start, end, cell)
        share = np.clip(amounts / np.diff(edges), 0.0, 1.0)
        if float(share.max(initial=0.0)) >= SMALLEST_SHARE:
            shares[part] = tuple(share.tolist())
    if not shares:
        return None
    return PhaseCourse(
        edges_s=tuple(((edges - start) / NS_PER_SECOND).tolist()),
        shares=shares,
        sps=_speeds(recording, start, end, cell),
    )


def _speeds(recording: Recording, start: int, end: int, cell: int) -> tuple[float, ...] | None:
    steps = counter_slices(recording, ENV_STEPS)
    if not len(steps.amount):
        return None
    amounts, edges = spread(steps, start, end, cell)
    return tuple((amounts * NS_PER_SECOND / np.diff(edges)).tolist())
