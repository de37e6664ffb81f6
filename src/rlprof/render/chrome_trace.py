"""A recording as a trace that Perfetto and chrome://tracing open: one process group each, on one clock.

Single spans are drawn where they were logged: in scheduled windows and in the slowest iterations. The whole run is
covered by tracks of their own: iterations, phases by slice of time (laid one after the other in their proportion, not
in the order in which they happened), and counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from rlprof.analyse.ledger import Account, open_account
from rlprof.analyse.slices import LaneSlices, lane_slices
from rlprof.analyse.timeline import Nested, logged_spans
from rlprof.model.clean import clean_text
from rlprof.model.phases import PHASES, UNATTRIBUTED
from rlprof.model.recording import Process, Recording

#: Tracks beside the threads', which are numbered from 1.
ITERATIONS, PHASES_BY_SLICE = 1_000_001, 1_000_002
MEGABYTE: Final = 1e6
RETURNS: Final = "episode_return"
MOST_NAME: Final = 200
#: Slices follow each other; between two that do, there is less than this.
SHORT_GAP_NS: Final = 100_000_000


def chrome_trace(recording: Recording) -> Iterator[str]:
    """The trace in pieces of text: a long one need not fit into memory."""
    zero = min(process.start_ns for process in recording.processes)
    yield '{"displayTimeUnit":"ms","traceEvents":[\n'
    separator = ""
    for process in recording.processes:
        for event in _process_events(open_account(process), zero):
            yield separator + event
            separator = ",\n"
    yield "\n]}\n"


def _process_events(account: Account, zero: int) -> Iterator[str]:
    process = account.process
    yield from _names(process)
    for thread, spans in logged_spans(process):
        yield from _spans(process, thread, spans, zero)
    yield from _iterations(process, zero)
    slices = lane_slices(account)
    yield from _phases(process, slices, zero)
    yield from _counters(process, zero)
    yield from _memory(process, zero)


def _names(process: Process) -> Iterator[str]:
    title = f"{process.role} {process.pid}" if process.role != "main" else f"main {process.pid}"
    yield _meta(process.id, 0, "process_name", name=title)
    yield _meta(process.id, 0, "process_sort_index", sort_index=process.id)
    tracks = [(ITERATIONS, "iterations"), (PHASES_BY_SLICE, "phases, in proportion by slice of time")]
    tracks += [(thread.id + 1, thread.name or f"thread {thread.id}") for thread in process.threads]
    for number, (track, name) in enumerate(tracks):
        yield _meta(process.id, track, "thread_name", name=clean_text(name, MOST_NAME))
        yield _meta(process.id, track, "thread_sort_index", sort_index=number)


def _spans(process: Process, thread: int, spans: Iterable[Nested], zero: int) -> Iterator[str]:
    named = {path.id: json.dumps(clean_text(path.name, MOST_NAME)) for path in process.paths.values()}
    phases = {path.id: json.dumps(path.phase or "span") for path in process.paths.values()}
    for span in spans:
        name, phase = named[span.path], phases[span.path]
        yield _slice(process.id, thread + 1, name, phase, span.start_ns - zero, span.duration_ns)


def _iterations(process: Process, zero: int) -> Iterator[str]:
    table = process.iterations
    rows = zip(table.start_ns.tolist(), table.duration_ns.tolist(), table.env_steps.tolist(), strict=True)
    for number, (start, duration, env_steps) in enumerate(rows):
        args = json.dumps({"env_steps": env_steps if np.isfinite(env_steps) else None})
        name = json.dumps(f"iteration {number}")
        yield _slice(process.id, ITERATIONS, name, '"iteration"', start - zero, max(duration, 0), args)


def _phases(process: Process, slices: LaneSlices, zero: int) -> Iterator[str]:
    """The phases of each slice one after the other: their lengths are measured, their order is not."""
    parts = [part for part in (*PHASES, UNATTRIBUTED) if part in slices.own_ns]
    for row in range(len(slices)):
        at, end = int(slices.start_ns[row]), int(slices.end_ns[row])
        for part in parts:
            length = min(int(slices.own_ns[part][row]), end - at)
            if length > 0:
                args = json.dumps({"seconds": length / 1e9})
                yield _slice(process.id, PHASES_BY_SLICE, json.dumps(part), '"phase"', at - zero, length, args)
                at += length


def _counters(process: Process, zero: int) -> Iterator[str]:
    """Each counter as a rate over the slices in which it grew; returns are no amounts, they have a mean."""
    for number, name in enumerate(process.counter_names):
        if name == RETURNS:
            yield from _means(process, number, zero)
        else:
            yield from _rates(process, number, zero)


def _rates(process: Process, number: int, zero: int) -> Iterator[str]:
    """A viewer holds a value until the next one, so that the end of growing is a value, too."""
    name = f"{clean_text(process.counter_names[number], MOST_NAME)}/s"
    ended: int | None = None
    for start, end, amount, _ in _growth(process, number):
        if ended is not None and start - ended > SHORT_GAP_NS:
            yield _counter(process.id, name, ended - zero, 0.0)
        yield _counter(process.id, name, start - zero, amount / ((end - start) / 1e9))
        ended = end
    if ended is not None:
        yield _counter(process.id, name, ended - zero, 0.0)


def _means(process: Process, number: int, zero: int) -> Iterator[str]:
    for start, _, amount, calls in _growth(process, number):
        if calls:
            yield _counter(process.id, f"{process.counter_names[number]}, mean", start - zero, amount / calls)


def _growth(process: Process, number: int) -> Iterator[tuple[int, int, float, int]]:
    """Start, end, amount and calls of each slice in which a counter grew."""
    table = process.counter_windows
    rows = np.flatnonzero((table.counter == number) & (table.end_ns > table.start_ns) & np.isfinite(table.amount))
    columns = (table.start_ns, table.end_ns, table.amount, table.calls)
    yield from sorted(zip(*(column[rows].tolist() for column in columns), strict=True))


def _memory(process: Process, zero: int) -> Iterator[str]:
    table = process.memory
    columns = (table.at_ns, table.rss_bytes, table.device_bytes)
    for at, rss, device in zip(*(column.tolist() for column in columns), strict=True):
        yield _counter(process.id, "resident memory, MB", at - zero, rss / MEGABYTE)
        if device >= 0:
            yield _counter(process.id, "device memory, MB", at - zero, device / MEGABYTE)


def _slice(pid: int, tid: int, name: str, category: str, start: int, duration: int, args: str = "{}") -> str:
    """`name`, `category` and `args` are JSON already: millions of spans share a few names."""
    return (
        f'{{"ph":"X","pid":{pid},"tid":{tid},"name":{name},"cat":{category},'
        f'"ts":{_microseconds(start)},"dur":{_microseconds(duration)},"args":{args}}}'
    )


def _counter(pid: int, name: str, at: int, value: float) -> str:
    shown = json.dumps({"value": round(value, 6)})
    return f'{{"ph":"C","pid":{pid},"tid":0,"name":{json.dumps(name)},"ts":{_microseconds(at)},"args":{shown}}}'


def _meta(pid: int, tid: int, what: str, **args: Any) -> str:
    return json.dumps({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}, separators=(",", ":"))


def _microseconds(nanoseconds: int) -> str:
    """Written out from whole numbers: a float would round."""
    nanoseconds = max(nanoseconds, 0)
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"
