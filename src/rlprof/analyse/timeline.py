"""The single spans that a recording holds, by thread and properly nested, ready to be drawn on a time line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rlprof.model.recording import EventTable, Process


class Nested(NamedTuple):
    path: int
    start_ns: int
    duration_ns: int


def logged_spans(process: Process) -> Iterator[tuple[int, Iterator[Nested]]]:
    """(thread, its spans by start, the outer before the inner). What was logged twice comes once."""
    tables = [process.events, *(slow.events for slow in process.slow_iterations)]
    rows = np.unique(np.concatenate([_rows(table) for table in tables]), axis=0)
    known = np.array(sorted(process.paths), np.int64)
    rows = rows[np.isin(rows[:, 0], known)]
    if not len(rows):
        return
    thread_of = np.full(int(known.max()) + 1, -1, np.int64)
    for path in process.paths.values():
        thread_of[path.id] = path.thread
    threads = thread_of[rows[:, 0]]
    for thread in np.unique(threads).tolist():
        own = rows[threads == thread]
        order = np.lexsort((own[:, 0], -own[:, 2], own[:, 1]))  # by start, then the longest first
        yield int(thread), _nest(map(Nested._make, own[order].tolist()))


def _rows(table: EventTable) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.stack([table.path, table.start_ns, np.maximum(table.duration_ns, 0)], axis=1).astype(np.int64)


def _nest(spans: Iterable[Nested]) -> Iterator[Nested]:
    """Spans may be closed out of order; a viewer takes only such as end before the one around them does."""
    ends: list[int] = []
    for span in spans:
        while ends and ends[-1] <= span.start_ns:
            ends.pop()
        end = span.start_ns + span.duration_ns
        if ends and end > ends[-1]:
            end = ends[-1]
        yield span._replace(duration_ns=end - span.start_ns)
        ends.append(end)
