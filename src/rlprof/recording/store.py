"""The writer's side of a recording: one process's part, one transaction per flush."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rlprof.recording import columns as packed
from rlprof.recording import schema
from rlprof.recording.columns import Columns
from rlprof.recording.connections import SelfClosing

#: Small chunks are joined into one after this many flushes, so that reading an hour takes hundreds of blobs, not
#: hundred thousands.
FLUSHES_PER_CHUNK: Final = 64

Pack = Callable[[Columns, tuple[packed.Column, ...]], bytes]

PROCESS_ID: Final = 1  # a part holds one process; merging numbers them


@dataclass(frozen=True, slots=True)
class SlowRow:
    iteration: int
    start_ns: int
    duration_ns: int
    elided: int
    elided_below_ns: int
    events: Columns


@dataclass(slots=True)
class Batch:
    """What one flush brings. Totals are absolute, so that writing one twice does no harm."""

    process: dict[str, Any]
    threads: list[tuple[int, str, bool]] = field(default_factory=list)
    paths: list[tuple[int, int | None, int, str, str | None, int]] = field(default_factory=list)
    stats: list[tuple[Any, ...]] = field(default_factory=list)
    open_spans: list[tuple[int, int]] = field(default_factory=list)
    counters: list[tuple[int, str, float, int]] = field(default_factory=list)
    frames: list[tuple[int, int | None, str, str, int]] = field(default_factory=list)
    tables: dict[str, Columns] = field(default_factory=dict)  # by chunk kind
    slow: list[SlowRow] = field(default_factory=list)
    slow_kept: Sequence[int] = ()
    warnings: list[tuple[str, str, str]] = field(default_factory=list)


def plain(text: str) -> str:
    """Text that a database can hold: lone surrogates are written as escapes, NULs as their symbol."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\u2400")


class PartStore:
    """One process's part of a recording, on disk or in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._opened: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._recent: dict[str, _Recent] = {}
        if path is not None:
            touch(path)  # an empty part says that a process began, even if it never gets to write

    @property
    def _connection(self) -> sqlite3.Connection:
        """Opened when first needed: many child processes live too briefly to have anything to write."""
        if self._opened is None:
            self._opened = _connect(self.path)
            self._file = _file_at(self.path)
        return self._opened

    def write(self, batch: Batch) -> None:
        """Write a flush whole or not at all."""
        recent = {kind: _Recent(list(r.ids), list(r.tables)) for kind, r in self._recent.items()}
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._write_rows(batch)
            for kind, columns in batch.tables.items():
                self._write_chunk(kind, columns)
            connection.execute("COMMIT")
        except BaseException:
            self._recent = recent
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _write_rows(self, batch: Batch) -> None:
        self._write_process(batch.process)
        self._insert(
            "INSERT OR REPLACE INTO threads VALUES (1, ?, ?, ?)", [(i, plain(n), m) for i, n, m in batch.threads]
        )
        self._insert(
            "INSERT OR REPLACE INTO paths VALUES (1, ?, ?, ?, ?, ?, ?)",
            [(i, up, lane, plain(name), phase, kind) for i, up, lane, name, phase, kind in batch.paths],
        )
        self._insert("INSERT OR REPLACE INTO path_stats VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", batch.stats)
        self._connection.execute("DELETE FROM open_spans")
        self._insert("INSERT INTO open_spans VALUES (1, ?, ?)", batch.open_spans)
        self._insert(
            "INSERT OR REPLACE INTO counters VALUES (1, ?, ?, ?, ?)",
            [(i, plain(name), amount, calls) for i, name, amount, calls in batch.counters],
        )
        self._insert(
            "INSERT OR REPLACE INTO frames VALUES (1, ?, ?, ?, ?, ?)",
            [(i, up, plain(function), plain(file), line) for i, up, function, file, line in batch.frames],
        )
        self._insert("INSERT INTO warnings VALUES (1, ?, ?, ?)", [tuple(map(plain, w)) for w in batch.warnings])
        if batch.slow:
            self._write_slow(batch)

    def _insert(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:  # most flushes bring nothing for most tables, and preparing a statement takes time, too
            self._connection.executemany(statement, rows)

    def _write_process(self, process: Mapping[str, Any]) -> None:
        values = [plain(json.dumps(process[name])) if name in _TEXTS else process[name] for name in _PROCESS_COLUMNS]
        self._connection.execute(_REPLACE_PROCESS, values)

    def _write_slow(self, batch: Batch) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO slow_iterations VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    s.iteration,
                    s.start_ns,
                    s.duration_ns,
                    s.elided,
                    s.elided_below_ns,
                    len(s.events["path"]),
                    packed.pack(s.events, packed.EVENTS),
                )
                for s in batch.slow
            ],
        )
        # Last, because what waited for a failed write may have been overtaken meanwhile.
        kept = ",".join(str(int(index)) for index in batch.slow_kept)
        self._connection.execute(f"DELETE FROM slow_iterations WHERE iteration NOT IN ({kept})")

    def _write_chunk(self, kind: str, columns: Columns) -> None:
        layout = packed.KINDS[kind]
        rows = len(columns[layout[0].name])
        if rows == 0:
            return
        if kind == "events":  # large already, and too many to hold
            self._insert_chunk(kind, columns)
            return
        recent = self._recent.setdefault(kind, _Recent([], []))
        recent.tables.append(columns)
        if len(recent.tables) < FLUSHES_PER_CHUNK:
            recent.ids.append(self._insert_chunk(kind, columns, packed.pack_for_now))
            return
        marks = ",".join("?" * len(recent.ids))
        self._connection.execute(f"DELETE FROM chunks WHERE id IN ({marks})", recent.ids)
        self._insert_chunk(kind, packed.join_rows(recent.tables, layout))
        del self._recent[kind]

    def _insert_chunk(self, kind: str, columns: Columns, pack: Pack = packed.pack) -> int:
        layout = packed.KINDS[kind]
        cursor = self._connection.execute(
            "INSERT INTO chunks (process, kind, rows, data) VALUES (1, ?, ?, ?)",
            (kind, len(columns[layout[0].name]), pack(columns, layout)),
        )
        return int(cursor.lastrowid or 0)

    def missing(self) -> bool:
        """Whether the file was taken away under the writer, who would not notice by writing."""
        return self._opened is not None and _file_at(self.path) != self._file

    def move_to(self, path: Path) -> None:
        """Go on in a new file with all that was written so far, when the old one was taken away."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_database(path)  # SQLite would take a journal that was left behind for this file's own
        fresh = None
        try:
            fresh = _open(path)
            self._connection.backup(fresh)
        except BaseException:
            # Half a copy would look like the file that is missing, and be written no more.
            if fresh is not None:
                fresh.close()
            remove_database(path)
            raise
        self._connection.close()
        self._opened = fresh
        self._file = _file_at(path)
        self.path = path

    def save_copy(self, path: Path) -> None:
        """Write all of it to another file, whole or not at all."""
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        remove_database(scratch)
        try:
            touch(scratch)
            copy = sqlite3.connect(scratch)
            try:
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one plain file, that a read-only place can hold
            finally:
                copy.close()
            os.replace(scratch, path)
        finally:
            remove_database(scratch)

    def snapshot(self) -> sqlite3.Connection:
        """A copy in memory that a reader may keep while writing goes on."""
        copy = sqlite3.connect(":memory:", check_same_thread=False, factory=SelfClosing)
        self._connection.backup(copy)
        return copy

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()


@dataclass(slots=True)
class _Recent:
    ids: list[int]
    tables: list[Columns]


def touch(path: Path) -> None:
    """Make the file, readable to its owner alone: a recording holds command lines and paths."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def remove_database(path: Path) -> None:
    """Remove a database with the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _file_at(path: Path | None) -> tuple[int, int] | None:
    """What tells the file at a path from another one that took its place."""
    try:
        found = None if path is None else os.stat(path)
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _open(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        touch(path)
    connection = sqlite3.connect(
        ":memory:" if path is None else path, isolation_level=None, check_same_thread=False, timeout=2.0
    )
    connection.execute("PRAGMA journal_mode = WAL")
    # Safe against the end of the process at any moment; only a crash of the whole machine may cost the last seconds.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 2000")
    return connection


def _connect(path: Path | None) -> sqlite3.Connection:
    connection = _open(path)
    schema.create(connection)
    return connection


_PROCESS_COLUMNS: Final = (
    "uid", "parent_uid", "pid", "role", "argv", "started", "start_ns", "end_ns", "recorded_ns", "status", "exit_code",
    "facts", "costs", "losses", "iteration_thread", "wall_drift",
)  # fmt: skip


_TEXTS: Final = frozenset({"argv", "facts", "costs", "losses"})
_REPLACE_PROCESS: Final = (
    f"INSERT OR REPLACE INTO processes (id,{','.join(_PROCESS_COLUMNS)}) "
    f"VALUES (1,{','.join('?' * len(_PROCESS_COLUMNS))})"
)
