"""Totals of paths without what was measured in a window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rlprof.model.recording import FloatColumn, PathStats, Process


def stats_outside(process: Process, outside: FloatColumn, moved: Callable[[int], int]) -> dict[int, PathStats]:
    """The totals less the slices that are in a window; `outside` is the share of each slice that is not."""
    table = process.windows
    inside = 1.0 - outside
    rows = inside > 0
    paths, index = np.unique(table.path[rows], return_inverse=True)

    def gone(column: Any) -> dict[int, int]:
        sums = np.bincount(index, column[rows] * inside[rows], len(paths))
        return dict(zip(paths.tolist(), np.rint(sums).astype(np.int64).tolist(), strict=True))

    counts, totals, own, charged = map(gone, (table.count, table.total_ns, table.self_ns, table.charged_ns))
    spanning = _spanning(process, counts, own)
    found: dict[int, PathStats] = {}
    for path, stats in process.stats.items():
        count = max(stats.count - counts.get(path, 0), 0)
        found[path] = replace(
            stats,
            count=count,
            untimed=min(stats.untimed, count),
            total_ns=max(stats.total_ns - totals.get(path, 0) - spanning.get(path, 0), 0),
            self_ns=max(stats.self_ns - own.get(path, 0), 0),
            charged_ns=max(stats.charged_ns - charged.get(path, 0), 0),
            open_since_ns=tuple(moved(since) for since in stats.open_since_ns),
        )
    return found


def _spanning(process: Process, counts: Mapping[int, int], own: Mapping[int, int]) -> dict[int, int]:
    """Of paths that did not close in a window while something inside them ran: the time of it.

    Such a span was open before and after; when it closed, its duration had the window in it.
    """
    beneath = dict(own)
    for path in sorted(process.paths, reverse=True):  # a path has a larger number than the one above it
        above = process.paths[path].parent
        if above is not None and path in beneath:
            beneath[above] = beneath.get(above, 0) + beneath[path]
    return {
        path: spent
        for path, spent in beneath.items()
        if spent > 0 and not counts.get(path) and path in process.stats and not process.stats[path].open_since_ns
    }
