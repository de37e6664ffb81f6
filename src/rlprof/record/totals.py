"""Running totals of every path, kept beside the core so that each flush can write them whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rlprof.record.layout import NEVER
from rlprof.recording.columns import pack_histogram


@dataclass(slots=True)
class _Path:
    count: int = 0
    untimed: int = 0
    total: int = 0
    own: int = 0
    shortest: int = NEVER
    longest: int = 0
    charged: int = 0
    exact: int = 0
    rss_peak: int = -1  # -1: never seen
    rss_rise: int = -1
    device_rise: int = -1
    histogram: dict[int, int] = field(default_factory=dict)

    def row(self, number: int) -> tuple[Any, ...]:
        """A row of the path_stats table."""
        timed = self.shortest != NEVER
        return (
            number, self.count, self.total, self.own, self.shortest if timed else None, self.longest if timed else None,
            self.charged, _seen(self.rss_peak), _seen(self.rss_rise), self.exact, _seen(self.device_rise),
            pack_histogram(self.histogram), self.untimed,
        )  # fmt: skip


def _seen(value: int) -> int | None:
    return None if value < 0 else value


class PathTotals:
    """One entry per path, made as paths appear."""

    def __init__(self) -> None:
        self._paths: dict[int, _Path] = {}
        self._changed: set[int] = set()
        self.spans = 0  # closed spans that the totals hold

    def add(self, rows: dict[str, list[int]], bins: dict[str, list[int]]) -> None:
        """Take in what the core handed over: the columns of layout.ROW and layout.BIN."""
        entries = [self._entry(path) for path in rows["path"]]
        self._changed.update(rows["path"])
        self.spans += sum(rows["count"])
        names = ("count", "untimed", "total", "own", "shortest", "longest", "charged", "exact")
        for entry, *values in zip(entries, *(rows[name] for name in names), strict=True):
            count, untimed, total, own, shortest, longest, charged, exact = values
            entry.count += count
            entry.untimed += untimed
            entry.total += total
            entry.own += own
            entry.shortest = min(entry.shortest, shortest)
            entry.longest = max(entry.longest, longest)
            entry.charged += charged
            entry.exact |= exact
        self._add_memory(entries, rows)
        for row, bucket, count in zip(bins["row"], bins["bucket"], bins["count"], strict=True):
            histogram = entries[row].histogram
            histogram[bucket] = histogram.get(bucket, 0) + count

    def add_unseen(self, path: int, calls: int) -> None:
        """Calls that nobody looked at and that must have been: no spans, so they are not among those."""
        entry = self._entry(path)
        entry.count += calls
        entry.untimed += calls
        self._changed.add(path)

    def _add_memory(self, entries: list[_Path], rows: dict[str, list[int]]) -> None:
        names = ("exact", "rss_peak", "rss_rise", "device_rise")
        for entry, exact, peak, rise, device in zip(entries, *(rows[name] for name in names), strict=True):
            if peak > 0 or exact:
                entry.rss_peak = max(entry.rss_peak, peak)
                entry.rss_rise = max(entry.rss_rise, rise)
            # The core adds one to a device's figure, so that 0 can say that there was no device.
            entry.device_rise = max(entry.device_rise, device - 1)

    def _entry(self, path: int) -> _Path:
        entry = self._paths.get(path)
        if entry is None:
            entry = self._paths[path] = _Path()
        return entry

    def changed_rows(self) -> list[tuple[Any, ...]]:
        """Rows of the path_stats table for the paths that changed since `settle`."""
        return [self._paths[path].row(path) for path in sorted(self._changed)]

    def settle(self) -> None:
        """What changed so far is on disk."""
        self._changed.clear()
