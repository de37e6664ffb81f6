"""A recording without its windows: iterations in which torch.profiler or cProfile looked on are no part of the figures.

Time is cut out as if it had never passed: what was measured in a window goes, and what came later moves up. The run
flushed where a window began and ended, so slices of time are in it or not. Smallest, largest and middle durations
of an operation are of the whole run, as the recording does not keep them by slice; only the durations of spans that
were open where a window began or ended are taken out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from rlprof.analyse.counting_apart import stats_outside, straddling_of
from rlprof.model.recording import (
    CounterTable,
    CounterTotal,
    EventTable,
    FloatColumn,
    IntColumn,
    IterationTable,
    MemoryTable,
    PathStats,
    Process,
    ProcessLoaders,
    Recording,
    SampleTable,
    SlowIteration,
    StretchTable,
    WindowTable,
)

#: The fact that lists windows, and what it is called once they are cut out.
FACT: Final = "windows"
CUT: Final = "windows_apart"


@dataclass(frozen=True, slots=True)
class Cuts:
    """Stretches of time that count for nothing, in order and apart from each other."""

    start_ns: IntColumn
    end_ns: IntColumn

    def before(self, moments: IntColumn) -> IntColumn:
        """How much of the cut time had passed at each moment."""
        passed = np.zeros(len(moments), np.int64)
        for start, end in zip(self.start_ns.tolist(), self.end_ns.tolist(), strict=True):
            passed += np.clip(moments - start, 0, end - start)
        return passed

    def moved(self, moments: IntColumn) -> IntColumn:
        return moments - self.before(moments)

    def moment(self, at: int) -> int:
        return int(self.moved(np.array([at], np.int64))[0])

    def outside(self, start: IntColumn, end: IntColumn) -> FloatColumn:
        """The share of each slice that is in no cut."""
        lasted = np.maximum(end - start, 1)
        return np.asarray(1.0 - (self.before(end) - self.before(start)) / lasted, np.float64)

    def keeps(self, start: IntColumn, end: IntColumn) -> Any:
        """Which stretches are for the most part in no cut."""
        return self.outside(start, end) > 0.5


def outside_windows(recording: Recording) -> Recording:
    """The recording itself where it has no window."""
    windows = recording.main.facts.get(FACT)
    cuts = _cuts(recording.main, windows) if isinstance(windows, list) else None
    if cuts is None:
        return recording
    main, *children = recording.processes
    return replace(recording, processes=(_outside(main, cuts), *(_beside(child, cuts) for child in children)))


def _cuts(main: Process, windows: list[Any]) -> Cuts | None:
    """The slices of the main process that lie within a window."""
    table = main.windows
    found: list[tuple[int, int]] = []
    for window in windows:
        start, end = (window.get("start_ns"), window.get("end_ns")) if isinstance(window, Mapping) else (None, None)
        if isinstance(start, int) and isinstance(end, int):
            rows = (table.start_ns >= start) & (table.end_ns <= end)
            if rows.any():
                found.append((int(table.start_ns[rows].min()), int(table.end_ns[rows].max())))
    if not found:
        return None
    found.sort()
    return Cuts(np.array([start for start, _ in found], np.int64), np.array([end for _, end in found], np.int64))


def _outside(process: Process, cuts: Cuts) -> Process:
    facts = {CUT if name == FACT else name: value for name, value in process.facts.items()}
    span = np.array([process.start_ns, process.end_ns], np.int64)
    removed = int(np.diff(cuts.before(span))[0])
    counters = _counters(process, cuts)
    return replace(
        process,
        facts=facts,
        end_ns=cuts.moment(process.end_ns),
        recorded_ns=max(process.recorded_ns - removed, 0),
        stats=_stats(process, cuts),
        counters=_totals(process, counters),
        load=ProcessLoaders(
            windows=lambda: _windows(process.windows, cuts),
            counters=lambda: counters,
            iterations=lambda: _iterations(process.iterations, cuts),
            memory=lambda: _memory(process.memory, cuts),
            events=lambda: process.events,
            slow_iterations=lambda: _slow(process.slow_iterations, cuts),
            samples=lambda: _samples(process.samples, cuts),
            stretches=lambda: _stretches(process.stretches, cuts),
        ),
    )


def _beside(child: Process, cuts: Cuts) -> Process:
    """Nothing looked on in a child: its time is its own. What it did at the same time as its parent goes with it."""
    counters = _counters(child, cuts)
    load = replace(child.load, counters=lambda: counters, stretches=lambda: _stretches(child.stretches, cuts))
    return replace(child, counters=_totals(child, counters), load=load)


def _stats(process: Process, cuts: Cuts) -> dict[int, PathStats]:
    def cut(start: int, end: int) -> int:
        return int(np.diff(cuts.before(np.array([start, end], np.int64)))[0])

    outside = cuts.outside(process.windows.start_ns, process.windows.end_ns)
    astride = straddling_of(process, process.facts.get(FACT) or (), cut)
    return stats_outside(process, outside, cuts.moment, astride)


def _windows(table: WindowTable, cuts: Cuts) -> WindowTable:
    share = cuts.outside(table.start_ns, table.end_ns)
    rows = share > 0

    def part(column: IntColumn) -> IntColumn:
        return np.asarray(np.rint(column[rows] * share[rows]), np.int64)

    return WindowTable(
        start_ns=cuts.moved(table.start_ns[rows]),
        end_ns=cuts.moved(table.end_ns[rows]),
        path=table.path[rows],
        count=part(table.count),
        total_ns=part(table.total_ns),
        self_ns=part(table.self_ns),
        charged_ns=part(table.charged_ns),
    )


def _counters(process: Process, cuts: Cuts) -> CounterTable:
    table = process.counter_windows
    share = cuts.outside(table.start_ns, table.end_ns)
    rows = share > 0
    return CounterTable(
        start_ns=cuts.moved(table.start_ns[rows]),
        end_ns=cuts.moved(table.end_ns[rows]),
        counter=table.counter[rows],
        amount=table.amount[rows] * share[rows],
        calls=np.asarray(np.rint(table.calls[rows] * share[rows]), np.int64),
    )


def _totals(process: Process, outside: CounterTable) -> dict[str, CounterTotal]:
    whole = process.counter_windows
    totals: dict[str, CounterTotal] = {}
    for number, name in enumerate(process.counter_names):
        mine, kept = whole.counter == number, outside.counter == number
        total = process.counters[name]
        gone = float(whole.amount[mine].sum() - outside.amount[kept].sum())
        calls = int(whole.calls[mine].sum() - outside.calls[kept].sum())
        totals[name] = CounterTotal(total.amount - gone, total.calls - calls)
    return totals


def _iterations(table: IterationTable, cuts: Cuts) -> IterationTable:
    end = table.start_ns + table.duration_ns
    rows = cuts.keeps(table.start_ns, end)
    start = cuts.moved(table.start_ns[rows])
    return IterationTable(start, cuts.moved(end[rows]) - start, table.env_steps[rows])


def _slow(found: tuple[SlowIteration, ...], cuts: Cuts) -> tuple[SlowIteration, ...]:
    def column(moment: int) -> IntColumn:
        return np.array([moment], np.int64)

    return tuple(
        replace(slow, start_ns=cuts.moment(slow.start_ns), events=_events(slow.events, cuts))
        for slow in found
        if cuts.keeps(column(slow.start_ns), column(slow.start_ns + slow.duration_ns))[0]
    )


def _events(table: EventTable, cuts: Cuts) -> EventTable:
    start = cuts.moved(table.start_ns)
    return EventTable(table.path, start, cuts.moved(table.start_ns + table.duration_ns) - start)


def _memory(table: MemoryTable, cuts: Cuts) -> MemoryTable:
    rows = cuts.keeps(table.at_ns, table.at_ns + 1)
    return MemoryTable(cuts.moved(table.at_ns[rows]), table.rss_bytes[rows], table.device_bytes[rows])


def _samples(table: SampleTable, cuts: Cuts) -> SampleTable:
    if table.end_ns is None:
        return table
    rows = cuts.keeps(table.end_ns - 1, table.end_ns)
    return SampleTable(
        table.path[rows], table.frame[rows], table.count[rows], table.frames, cuts.moved(table.end_ns[rows])
    )


def _stretches(table: StretchTable, cuts: Cuts) -> StretchTable:
    rows = cuts.keeps(table.start_ns, table.start_ns + table.duration_ns)
    return StretchTable(table.what[rows], table.env[rows], cuts.moved(table.start_ns[rows]), table.duration_ns[rows])
