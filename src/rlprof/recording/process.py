"""Reading one process out of a recording: small tables at once, large ones when somebody asks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rlprof.model.errors import NotARecording
from rlprof.model.losses import TALLIES, losses_of
from rlprof.model.recording import (
    CounterTable,
    CounterTotal,
    EventTable,
    Frame,
    IterationTable,
    MemoryTable,
    Path,
    PathStats,
    Process,
    ProcessLoaders,
    RecordedWarning,
    SampleTable,
    SlowIteration,
    SpanCost,
    Status,
    StretchTable,
    Thread,
    WindowTable,
)
from rlprof.recording import codec, columns

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]  # to the file, whenever more of it is wanted

_TEXT: Final = "typeof({}) = 'text'"
_WHOLE: Final = "typeof({}) = 'integer'"
_REAL: Final = "typeof({}) = 'real' AND abs({}) < 1.7e308"
_TEXT_OR_NULL: Final = "typeof({}) IN ('text', 'null')"
_WHOLE_OR_NULL: Final = "typeof({}) IN ('integer', 'null')"

#: What each column must hold. SQLite itself takes anything anywhere, and a file may have been made by anyone.
_SHAPES: Final[Mapping[str, Mapping[str, str]]] = {
    "processes": {
        "uid role argv status facts costs losses": _TEXT,
        "pid start_ns end_ns recorded_ns": _WHOLE,
        "started wall_drift": _REAL,
        "parent_uid": _TEXT_OR_NULL,
        "exit_code iteration_thread": _WHOLE_OR_NULL,
    },
    "threads": {"id is_main": _WHOLE, "name": _TEXT},
    "paths": {"id thread kind": _WHOLE, "name": _TEXT, "parent": _WHOLE_OR_NULL, "phase": _TEXT_OR_NULL},
    "path_stats": {
        "path count total_ns self_ns charged_ns rss_exact untimed": _WHOLE,
        "min_ns max_ns rss_peak rss_rise device_rise": _WHOLE_OR_NULL,
    },
    "open_spans": {"path start_ns": _WHOLE},
    "counters": {"id calls": _WHOLE, "name": _TEXT, "amount": _REAL},
    "slow_iterations": {"iteration start_ns duration_ns elided elided_below_ns": _WHOLE},
    "frames": {"id line": _WHOLE, "parent": _WHOLE_OR_NULL, "function file": _TEXT},
    "warnings": {"code message remedy": _TEXT},
}


def _check_shapes(connection: sqlite3.Connection, key: int) -> None:
    for table, shapes in _SHAPES.items():
        rules = [rule.format(name, name) for names, rule in shapes.items() for name in names.split()]
        mine = "id" if table == "processes" else "process"
        query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {mine} = ? AND NOT ({' AND '.join(rules)}))"
        if connection.execute(query, (key,)).fetchone()[0]:
            raise NotARecording(f"the table {table} holds what was never written into it")


def read_process(
    connection: sqlite3.Connection,
    row: Any,
    facts: Mapping[str, Any],
    status: Status,
    number: int,
    connect: Connect,
) -> Process:
    """`row` is the process's own row; `number` is what it is called in this reading."""
    key: int = row["id"]
    _check_shapes(connection, key)
    counters = connection.execute(
        "SELECT name, amount, calls FROM counters WHERE process = ? ORDER BY id", (key,)
    ).fetchall()
    counts = {str(name): int(count) for name, count in json.loads(row["losses"]).items()}
    costs = {int(kind): SpanCost(*map(float, cost)) for kind, cost in json.loads(row["costs"]).items()}
    return Process(
        id=number,
        uid=row["uid"],
        parent_uid=row["parent_uid"],
        pid=row["pid"],
        role=row["role"],
        argv=tuple(str(word) for word in json.loads(row["argv"])),
        started=row["started"],
        start_ns=row["start_ns"],
        end_ns=row["end_ns"],
        recorded_ns=row["recorded_ns"],
        status=status,
        exit_code=row["exit_code"],
        facts={**facts, "wall_drift_seconds": row["wall_drift"]},
        costs=costs,
        threads=_threads(connection, key),
        paths=_paths(connection, key),
        stats=_stats(connection, key),
        counters={c["name"]: CounterTotal(c["amount"], c["calls"]) for c in counters},
        counter_names=tuple(c["name"] for c in counters),
        tally={name: counts.get(name, 0) for name in TALLIES},
        losses=losses_of(counts),
        warnings=read_warnings(connection, key),
        iteration_thread=row["iteration_thread"],
        load=_loaders(connect, key),
    )


def read_warnings(connection: sqlite3.Connection, process: int) -> tuple[RecordedWarning, ...]:
    rows = connection.execute("SELECT code, message, remedy FROM warnings WHERE process = ? LIMIT 1000", (process,))
    return tuple(RecordedWarning(*row) for row in rows)


def _threads(connection: sqlite3.Connection, key: int) -> tuple[Thread, ...]:
    rows = connection.execute("SELECT id, name, is_main FROM threads WHERE process = ? ORDER BY id", (key,))
    return tuple(Thread(row["id"], row["name"], bool(row["is_main"])) for row in rows)


def _paths(connection: sqlite3.Connection, key: int) -> dict[int, Path]:
    rows = connection.execute(
        "SELECT id, parent, thread, name, phase, kind FROM paths WHERE process = ? ORDER BY id LIMIT 100000", (key,)
    )
    paths: dict[int, Path] = {}
    for row in rows:
        path = Path(*row)
        # A parent always comes before its children: this is what keeps a damaged file from making a circle.
        if path.parent is not None and path.parent not in paths:
            raise NotARecording(f"path {path.id} has no parent")
        paths[path.id] = path
    return paths


def _stats(connection: sqlite3.Connection, key: int) -> dict[int, PathStats]:
    open_since: dict[int, list[int]] = {}
    for row in connection.execute("SELECT path, start_ns FROM open_spans WHERE process = ? LIMIT 100000", (key,)):
        open_since.setdefault(row["path"], []).append(row["start_ns"])
    rows = connection.execute("SELECT * FROM path_stats WHERE process = ?", (key,))
    stats = {row["path"]: _stats_of(row, tuple(open_since.pop(row["path"], ()))) for row in rows}
    for path, since in open_since.items():
        stats[path] = PathStats(0, 0, 0, None, None, 0, {}, None, None, False, None, tuple(since))
    return stats


def _stats_of(row: Any, open_since: tuple[int, ...]) -> PathStats:
    return PathStats(
        count=row["count"],
        total_ns=row["total_ns"],
        self_ns=row["self_ns"],
        min_ns=row["min_ns"],
        max_ns=row["max_ns"],
        charged_ns=row["charged_ns"],
        histogram=codec.unpack_histogram(row["histogram"]),
        rss_peak_bytes=row["rss_peak"],
        rss_rise_bytes=row["rss_rise"],
        rss_exact=bool(row["rss_exact"]),
        device_rise_bytes=row["device_rise"],
        open_since_ns=open_since,
        untimed=min(max(row["untimed"], 0), max(row["count"], 0)),
    )


def _loaders(connect: Connect, key: int) -> ProcessLoaders:
    def loading(read: Callable[[sqlite3.Connection], Any]) -> Callable[[], Any]:
        """Tables load long after the file was opened, when nobody expects an error of the database any more."""

        def load() -> Any:
            try:
                with connect() as connection:
                    return read(connection)
            except (sqlite3.Error, LookupError, TypeError, ValueError, OverflowError) as error:
                raise NotARecording(f"the recording is damaged: {error}") from None

        return load

    def table(kind: str, make: Callable[[dict[str, NDArray[Any]]], Any]) -> Callable[[], Any]:
        return loading(lambda connection: make(_chunks(connection, key, kind)))

    return ProcessLoaders(
        windows=table("windows", lambda c: WindowTable(*(c[name] for name in WindowTable.__slots__))),
        counters=table("counters", lambda c: CounterTable(**c)),
        iterations=table("iterations", lambda c: IterationTable(**c)),
        memory=table("memory", lambda c: MemoryTable(**c)),
        events=table("events", lambda c: EventTable(**c)),
        slow_iterations=loading(lambda connection: _slow(connection, key)),
        samples=loading(lambda connection: _samples(connection, key)),
        stretches=table("stretches", lambda c: StretchTable(**c)),
    )


def _chunks(connection: sqlite3.Connection, key: int, kind: str) -> dict[str, NDArray[Any]]:
    layout = columns.KINDS[kind]
    tables: list[dict[str, NDArray[Any]]] = []
    total = 0
    rows = connection.execute("SELECT rows, data FROM chunks WHERE process = ? AND kind = ? ORDER BY id", (key, kind))
    for row in rows:
        tables.append(codec.unpack(row["data"], row["rows"], layout))
        total += row["rows"]
        if total > codec.MAX_TABLE_ROWS:
            raise NotARecording(f"a process has more than {codec.MAX_TABLE_ROWS} rows of {kind}")
    return codec.join(tables, layout)


def _slow(connection: sqlite3.Connection, key: int) -> tuple[SlowIteration, ...]:
    rows = connection.execute(
        "SELECT * FROM slow_iterations WHERE process = ? ORDER BY duration_ns DESC LIMIT 100", (key,)
    )
    return tuple(
        SlowIteration(
            row["iteration"],
            row["start_ns"],
            row["duration_ns"],
            row["elided"],
            row["elided_below_ns"],
            EventTable(**codec.unpack(row["data"], row["rows"], columns.EVENTS)),
        )
        for row in rows
    )


def _samples(connection: sqlite3.Connection, key: int) -> SampleTable:
    columns = _chunks(connection, key, "samples")
    slices = _chunks(connection, key, "sample_slices")
    rows = connection.execute(
        "SELECT id, parent, function, file, line FROM frames WHERE process = ? ORDER BY id LIMIT 1000000", (key,)
    )
    frames: dict[int, Frame] = {}
    for row in rows:
        frame = Frame(*row)
        if frame.parent is not None and frame.parent not in frames:  # as with paths: no circles
            raise NotARecording(f"frame {frame.id} has no caller")
        frames[frame.id] = frame
    return SampleTable(columns["path"], columns["frame"], columns["count"], frames, _ends(slices, len(columns["path"])))


def _ends(slices: dict[str, NDArray[Any]], rows: int) -> NDArray[Any] | None:
    """The end of each row's slice. Unknown in files of old, and where rows were dropped because nothing could be
    written for long."""
    if not len(slices["rows"]) or int(slices["rows"].sum()) != rows:
        return None
    return np.repeat(slices["end_ns"], slices["rows"])
