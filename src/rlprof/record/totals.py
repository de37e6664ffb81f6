"""Running totals of every path, kept beside the core so that each flush can write them whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlprof.model.histogram import BUCKETS
from rlprof.record.layout import NEVER
from rlprof.recording.codec import pack_histogram


class PathTotals:
    """One row per path, grown as paths appear."""

    def __init__(self) -> None:
        self._numbers = self._blank(0)  # count, total, own, shortest, longest, charged, exact
        self._memory = np.full((0, 3), -1, np.int64)  # peak, rise, device rise; -1: never seen
        self._histograms = np.zeros((0, BUCKETS), np.uint64)
        self._changed: set[int] = set()

    def add(self, rows: NDArray[Any], bins: NDArray[Any]) -> None:
        """Take in what the core handed over: rows of layout.ROW and layout.BIN."""
        if not len(rows):
            return
        paths = rows["path"].astype(np.intp)
        self._grow(int(paths.max()) + 1)
        numbers = self._numbers
        numbers[paths, 3] = np.minimum(numbers[paths, 3], rows["shortest"])
        numbers[paths, 4] = np.maximum(numbers[paths, 4], rows["longest"])
        for column, name in ((0, "count"), (1, "total"), (2, "own"), (5, "charged")):
            numbers[paths, column] += rows[name].astype(np.int64)
        numbers[paths, 6] |= rows["exact"].astype(np.int64)
        self._add_memory(rows, paths)
        np.add.at(self._histograms, (paths[bins["row"]], bins["bucket"]), bins["count"].astype(np.uint64))
        self._changed.update(paths.tolist())

    def _add_memory(self, rows: NDArray[Any], paths: NDArray[np.intp]) -> None:
        seen = (rows["rss_peak"] > 0) | (rows["exact"] > 0)
        memory = self._memory
        for column, name in ((0, "rss_peak"), (1, "rss_rise")):
            memory[paths, column] = np.where(seen, np.maximum(memory[paths, column], rows[name]), memory[paths, column])
        # The core adds one to a device's figure, so that 0 can say that there was no device.
        memory[paths, 2] = np.maximum(memory[paths, 2], rows["device_rise"] - 1)

    def _grow(self, size: int) -> None:
        missing = size - len(self._numbers)
        if missing <= 0:
            return
        extra = max(missing, len(self._numbers), 16)
        self._numbers = np.vstack([self._numbers, self._blank(extra)])
        self._memory = np.vstack([self._memory, np.full((extra, 3), -1, np.int64)])
        self._histograms = np.vstack([self._histograms, np.zeros((extra, BUCKETS), np.uint64)])

    @staticmethod
    def _blank(rows: int) -> NDArray[np.int64]:
        numbers = np.zeros((rows, 7), np.int64)
        numbers[:, 3] = NEVER
        return numbers

    def changed_rows(self) -> list[tuple[Any, ...]]:
        """Rows of the path_stats table for the paths that changed since `settle`."""
        rows = []
        for path in sorted(self._changed):
            count, total, own, shortest, longest, charged, exact = self._numbers[path].tolist()
            timed = shortest != NEVER
            peak, rise, device = (value if value >= 0 else None for value in self._memory[path].tolist())
            rows.append(
                (path, count, total, own, shortest if timed else None, longest if timed else None, charged,
                 peak, rise, exact, device, pack_histogram(self._histograms[path]))
            )  # fmt: skip
        return rows

    def settle(self) -> None:
        """What changed so far is on disk."""
        self._changed.clear()

    @property
    def spans(self) -> int:
        """How many closed spans the totals hold."""
        return int(self._numbers[:, 0].sum())
