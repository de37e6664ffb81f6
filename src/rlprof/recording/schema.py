"""The layout of a recording file and its history.

A part (one process, while it lives) and a merged recording (all processes) have the same tables; every table names the
process its rows belong to. docs/recording-format.md describes each column.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from rlprof.model.errors import NewerRecording, NotARecording

APPLICATION_ID: Final = 0x726C7066  # "rlpf", so that `file` and we can tell our files from other databases
VERSION: Final = 2

TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE processes (
    id INTEGER PRIMARY KEY, uid TEXT NOT NULL, parent_uid TEXT, pid INTEGER NOT NULL, role TEXT NOT NULL,
    argv TEXT NOT NULL, started REAL NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    recorded_ns INTEGER NOT NULL, status TEXT NOT NULL, exit_code INTEGER, facts TEXT NOT NULL, costs TEXT NOT NULL,
    losses TEXT NOT NULL, iteration_thread INTEGER, wall_drift REAL NOT NULL DEFAULT 0
);
CREATE TABLE threads (process INTEGER, id INTEGER, name TEXT NOT NULL, is_main INTEGER NOT NULL,
    PRIMARY KEY (process, id)) WITHOUT ROWID;
CREATE TABLE paths (process INTEGER, id INTEGER, parent INTEGER, thread INTEGER NOT NULL, name TEXT NOT NULL,
    phase TEXT, kind INTEGER NOT NULL, PRIMARY KEY (process, id)) WITHOUT ROWID;
CREATE TABLE path_stats (process INTEGER, path INTEGER, count INTEGER NOT NULL, total_ns INTEGER NOT NULL,
    self_ns INTEGER NOT NULL, min_ns INTEGER, max_ns INTEGER, charged_ns INTEGER NOT NULL, rss_peak INTEGER,
    rss_rise INTEGER, rss_exact INTEGER NOT NULL, device_rise INTEGER, histogram BLOB NOT NULL,
    untimed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (process, path)) WITHOUT ROWID;
CREATE TABLE open_spans (process INTEGER NOT NULL, path INTEGER NOT NULL, start_ns INTEGER NOT NULL);
CREATE TABLE counters (process INTEGER, id INTEGER, name TEXT NOT NULL, amount REAL NOT NULL, calls INTEGER NOT NULL,
    PRIMARY KEY (process, id)) WITHOUT ROWID;
CREATE TABLE chunks (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind TEXT NOT NULL, rows INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE TABLE slow_iterations (process INTEGER, iteration INTEGER, start_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL, elided INTEGER NOT NULL, elided_below_ns INTEGER NOT NULL, rows INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (process, iteration)) WITHOUT ROWID;
CREATE TABLE frames (process INTEGER, id INTEGER, parent INTEGER, function TEXT NOT NULL, file TEXT NOT NULL,
    line INTEGER NOT NULL, PRIMARY KEY (process, id)) WITHOUT ROWID;
CREATE TABLE warnings (process INTEGER NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL, remedy TEXT NOT NULL);
CREATE VIEW operations AS
    SELECT paths.process, paths.id AS path, paths.name, paths.phase, threads.name AS thread, path_stats.count AS calls,
        path_stats.total_ns / 1e9 AS total_seconds, path_stats.self_ns / 1e9 AS self_seconds,
        path_stats.min_ns / 1e9 AS min_seconds, path_stats.max_ns / 1e9 AS max_seconds
    FROM path_stats JOIN paths ON paths.process = path_stats.process AND paths.id = path_stats.path
    JOIN threads ON threads.process = paths.process AND threads.id = paths.thread;
"""

#: The tables that carry rows of a process, in the order a merge copies them.
PROCESS_TABLES: Final = (
    "threads",
    "paths",
    "path_stats",
    "open_spans",
    "counters",
    "slow_iterations",
    "frames",
    "warnings",
)


def _add_untimed(connection: sqlite3.Connection) -> None:
    """Layout 1 timed every call that it counted."""
    connection.execute("ALTER TABLE path_stats ADD COLUMN untimed INTEGER NOT NULL DEFAULT 0")


#: Steps from an older layout to the next one: MIGRATIONS[n] turns version n into n + 1. Version 1 is the first.
MIGRATIONS: Final[dict[int, Callable[[sqlite3.Connection], None]]] = {1: _add_untimed}


def create(connection: sqlite3.Connection) -> None:
    """Lay out an empty recording, whole or not at all: a file that says it is ours has our tables."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {TABLES} COMMIT;"
    )


def check(connection: sqlite3.Connection, name: str) -> int:
    """The layout version of an opened file; raises what is wrong with a file that is not ours to read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise NotARecording(f"{name} is a database, but not a recording of rlprof")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise NewerRecording(
            f"{name} has layout {version}, this rlprof reads up to {VERSION}: install a newer rlprof to read it"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring an older layout up to date, in place: the caller passes a copy."""
    for step in range(version, VERSION):
        if step not in MIGRATIONS:
            raise NotARecording(f"there is no way from layout {step} to {VERSION}")
        MIGRATIONS[step](connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.commit()  # a copy in the middle of a transaction could not be copied further
