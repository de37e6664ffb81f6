"""Totals of paths without what was measured in a window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlprof.model.histogram import bounds_of
from rlprof.model.recording import FloatColumn, PathStats, Process


@dataclass(frozen=True, slots=True)
class Straddling:
    """A span that was open where a window began or ended: its duration holds some of the window."""

    path: int
    inside_ns: int  # of the window, at least
    ended_later: bool  # it was booked after the window, so that all of its duration is in the totals


def stats_outside(
    process: Process, outside: FloatColumn, moved: Callable[[int], int], straddling: Iterable[Straddling]
) -> dict[int, PathStats]:
    """The totals less the slices that are in a window; `outside` is the share of each slice that is not."""
    table = process.windows
    inside = 1.0 - outside
    rows = inside > 0
    paths, index = np.unique(table.path[rows], return_inverse=True)

    def gone(column: Any) -> dict[int, int]:
        sums = np.bincount(index, column[rows] * inside[rows], len(paths))
        return dict(zip(paths.tolist(), np.rint(sums).astype(np.int64).tolist(), strict=True))

    counts, totals, own, charged = map(gone, (table.count, table.total_ns, table.self_ns, table.charged_ns))
    astride: dict[int, list[Straddling]] = {}
    for each in straddling:
        astride.setdefault(each.path, []).append(each)
    found: dict[int, PathStats] = {}
    for path, stats in process.stats.items():
        count = max(stats.count - counts.get(path, 0), 0)
        spread = sum(each.inside_ns for each in astride.get(path, ()) if each.ended_later)
        found[path] = replace(
            _without_longest(stats, astride.get(path, [])),
            count=count,
            untimed=min(stats.untimed, count),
            total_ns=max(stats.total_ns - totals.get(path, 0) - spread, 0),
            self_ns=max(stats.self_ns - own.get(path, 0), 0),
            charged_ns=max(stats.charged_ns - charged.get(path, 0), 0),
            open_since_ns=tuple(moved(since) for since in stats.open_since_ns),
        )
    return found


def _without_longest(stats: PathStats, astride: list[Straddling]) -> PathStats:
    """Durations that hold some of a window are the longest of their path, and no measure of it."""
    histogram = dict(stats.histogram)
    for each in astride:
        top = max((bucket for bucket, number in histogram.items() if number > 0), default=None)
        if top is not None and bounds_of(top)[1] > each.inside_ns:
            histogram[top] -= 1
    left = max((bucket for bucket, number in histogram.items() if number > 0), default=None)
    if histogram == stats.histogram or left is None or stats.max_ns is None:
        return stats
    return replace(stats, histogram=histogram, max_ns=min(stats.max_ns, bounds_of(left)[1]))


def straddling_of(process: Process, windows: Iterable[Any], cut: Callable[[int, int], int]) -> list[Straddling]:
    """The spans that the recording says were open around its windows; `cut` is the cut time between two moments."""
    found: list[Straddling] = []
    for window in windows:
        if not isinstance(window, Mapping):
            continue
        opened, end = window.get("opened_ns"), window.get("end_ns")
        for path, start in _listed(process, window.get("open_at_start")):
            if isinstance(opened, int):
                found.append(Straddling(path, cut(start, opened), ended_later=False))
        for path, start in _listed(process, window.get("open_at_end")):
            ended = start not in process.stats[path].open_since_ns
            if isinstance(end, int) and ended:
                found.append(Straddling(path, cut(start, end), ended_later=True))
    return _each_once(found)


def _each_once(found: list[Straddling]) -> list[Straddling]:
    """A span that was open at both ends of a window is booked after it: there it counts."""
    later = {each.path for each in found if each.ended_later}
    return [each for each in found if each.inside_ns > 0 and (each.ended_later or each.path not in later)]


def _listed(process: Process, spans: Any) -> list[tuple[int, int]]:
    return [
        (span[0], span[1])
        for span in (spans if isinstance(spans, list) else ())
        if isinstance(span, list) and len(span) == 2 and span[0] in process.stats and isinstance(span[1], int)
    ]
