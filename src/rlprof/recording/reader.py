"""Reading a recording: a merged file, or a directory of parts of a run that lives or was killed."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import EmptyRecording, NotARecording, RlprofError
from rlprof.model.recording import Process, RecordedWarning, Recording
from rlprof.recording import schema
from rlprof.recording.liveness import settled_status
from rlprof.recording.notes import silent_processes, unmerged, unreadable_part
from rlprof.recording.place import find, list_parts
from rlprof.recording.process import read_process, read_warnings
from rlprof.recording.runfile import Run, parse_run, read_run

_MAGIC: Final = b"SQLite format 3\0"
_DAMAGE: Final = (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError)


def open_recording(name: str | os.PathLike[str]) -> Recording:
    """Read a recording by the name of its file or of its directory of parts."""
    path = find(name)
    return _read_parts(path) if path.is_dir() else _read_file(path)


def read_connection(connection: sqlite3.Connection, source: str) -> Recording:
    """Read a recording that is open already, as one kept in memory is."""
    processes = _processes(connection, live=True)
    return _compose(source, None, processes, ())


def _read_file(path: Path) -> Recording:
    connection = _connect(path)
    try:
        processes = _processes(connection, live=False)
        row = connection.execute("SELECT value FROM meta WHERE key = 'run'").fetchone()
        run = parse_run(json.loads(row[0])) if row else None
        return _compose(str(path), run, processes, read_warnings(connection, 0))
    except _DAMAGE as error:
        raise NotARecording(f"{path} is damaged: {error}") from None


def _read_parts(parts: Path) -> Recording:
    processes: list[Process] = []
    warnings: list[RecordedWarning] = []
    written, silent = list_parts(parts)
    for number, part in enumerate(written, start=1):
        try:
            connection = _connect(part)
            processes += _processes(connection, live=True, number=number)
        except (RlprofError, *_DAMAGE) as error:
            warnings.append(unreadable_part(part, error))
    if silent:
        warnings.append(silent_processes(silent))
    run = read_run(parts)
    recording = _compose(str(parts), run, processes, tuple(warnings))
    if recording.status != "running":
        recording = replace(recording, warnings=(*recording.warnings, unmerged(parts)))
    return recording


def _connect(path: Path) -> sqlite3.Connection:
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise NotARecording(f"{path} cannot be read: {error.strerror or error}") from None
    if not head:
        raise NotARecording(f"{path} is empty")
    if head != _MAGIC:
        raise NotARecording(f"{path} is not a recording of rlprof (it is no SQLite file)")
    try:
        connection = _open_read_only(path)
        version = schema.check(connection, str(path))
        if version < schema.VERSION:
            connection = _migrated_copy(connection, version)
    except sqlite3.Error as error:
        raise NotARecording(f"{path} is damaged: {error}") from None
    return connection


def _open_read_only(path: Path) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # A read-only directory cannot hold the files a reader of a journalled database shares with its writer.
        connection.close()
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True, check_same_thread=False)
    return connection


def _migrated_copy(connection: sqlite3.Connection, version: int) -> sqlite3.Connection:
    """An older file is brought up to date in memory; the file itself stays as it is."""
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    connection.backup(copy)
    connection.close()
    schema.migrate(copy, version)
    return copy


def _processes(connection: sqlite3.Connection, *, live: bool, number: int | None = None) -> list[Process]:
    connection.row_factory = sqlite3.Row
    rows: list[Any] = connection.execute("SELECT * FROM processes ORDER BY id LIMIT 100000").fetchall()
    found = []
    for row in rows:
        facts = json.loads(row["facts"])
        status = settled_status(row["status"], row["pid"], facts.get("birth")) if live else row["status"]
        found.append(read_process(connection, row, facts, status, number if number is not None else row["id"]))
    return found


def _compose(
    source: str, run: Run | None, processes: list[Process], warnings: tuple[RecordedWarning, ...]
) -> Recording:
    if not processes:
        raise EmptyRecording(f"{source} holds no process: nothing was recorded before it ended")
    known = {process.uid for process in processes}
    ordered = sorted(processes, key=lambda p: (p.parent_uid in known, p.role != "main", p.start_ns))
    main = ordered[0]
    status = main.status
    if run is not None and run.status != "running":
        status = run.status
    return Recording(
        source=source,
        command=run.command if run else main.argv,
        started=run.started if run else main.started,
        status=status,
        exit_code=run.exit_code if run else main.exit_code,
        processes=tuple(ordered),
        warnings=warnings,
    )
