"""Reading a recording: a merged file, or a directory of parts of a run that lives or was killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import EmptyRecording, NotARecording, RlprofError
from rlprof.model.recording import Process, RecordedWarning, Recording
from rlprof.recording import schema
from rlprof.recording.connections import SelfClosing
from rlprof.recording.liveness import settled_status
from rlprof.recording.notes import UNREADABLE, no_readable_part, silent_processes, unmerged, unreadable_part
from rlprof.recording.place import find, list_parts, target_of
from rlprof.recording.process import Connect, read_process, read_warnings
from rlprof.recording.runfile import Run, parse_run, read_run

_MAGIC: Final = b"SQLite format 3\0"
#: What reading a damaged file can raise. RecursionError comes from JSON that is nested too deeply.
DAMAGE: Final = (
    sqlite3.Error, RlprofError, OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError,
    RecursionError,
)  # fmt: skip
#: A part takes up to three file handles while it is open, and a run may have had thousands of workers.
PARTS_KEPT_OPEN: Final = 50
_MOST_BYTES: Final = 256 << 20  # of one value: far above what a writer puts into one


def open_recording(name: str | os.PathLike[str]) -> Recording:
    """Read a recording by the name of its file or of its directory of parts."""
    path = find(name)
    if not path.is_dir():
        return _read_file(path)
    merged = target_of(path)
    try:
        recording = _read_parts(path)
    except RlprofError:
        if not merged.is_file():
            raise
    else:
        if not merged.is_file() or not any(warning.code == UNREADABLE for warning in recording.warnings):
            return recording
    return _read_file(merged)  # the parts were joined before, or at this very moment


def read_connection(connection: sqlite3.Connection, source: str) -> Recording:
    """Read a recording that is open already, as one kept in memory is."""
    connection.row_factory = sqlite3.Row
    processes = _processes(connection, lambda: contextlib.nullcontext(connection), live=True)
    return _compose(source, None, processes, ())


def _read_file(path: Path) -> Recording:
    try:
        connection = open_database(path)
        schema.check(connection, str(path))
        processes = _processes(connection, lambda: contextlib.nullcontext(connection), live=False)
        row = connection.execute("SELECT value FROM meta WHERE key = 'run'").fetchone()
        run = parse_run(json.loads(row[0])) if row else None
        return _compose(str(path), run, processes, read_warnings(connection, 0))
    except RlprofError:
        raise
    except DAMAGE as error:
        raise NotARecording(f"{path} is damaged: {error}") from None


def _read_parts(parts: Path) -> Recording:
    processes: list[Process] = []
    warnings: list[RecordedWarning] = []
    written, silent = list_parts(parts)
    for part in written:
        try:
            # Numbered as a merge numbers them.
            found = read_part(part, len(processes) + 1, keep_open=len(written) <= PARTS_KEPT_OPEN)
            processes += found
            silent += not found
        except DAMAGE as error:
            warnings.append(unreadable_part(part, error))
    if not processes and warnings:
        raise no_readable_part(parts, warnings)
    if silent:
        warnings.append(silent_processes(silent))
    recording = _compose(str(parts), read_run(parts), processes, tuple(warnings))
    if recording.status != "running":
        recording = replace(recording, warnings=(*recording.warnings, unmerged(parts)))
    return recording


def read_part(part: Path, number: int = 1, *, keep_open: bool = True) -> list[Process]:
    """The process of a part; none where it was killed before its first write was complete."""
    if keep_open:
        connection = open_database(part)
        with _one_moment(connection):
            return _processes(connection, lambda: contextlib.nullcontext(connection), live=True, number=number)
    with contextlib.closing(open_database(part)) as connection, _one_moment(connection):
        again = lambda: contextlib.closing(open_database(part))  # noqa: E731
        return _processes(connection, again, live=True, number=number)


@contextlib.contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Its process may write between two queries, and what is in one table fits the others of the same write only."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()


def open_database(path: Path) -> sqlite3.Connection:
    """A file of ours to read from, in today's layout. A connection that nobody closes lives until a collection."""
    connection = _open_read_only(path)
    try:
        connection.row_factory = sqlite3.Row
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            return connection  # ended before its tables were there
        version = schema.check(connection, str(path))
        return connection if version == schema.VERSION else _migrated_copy(connection, version)
    except BaseException:
        connection.close()
        raise


def _open_read_only(path: Path) -> sqlite3.Connection:
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise NotARecording(f"{path} cannot be read: {error.strerror or error}") from None
    if not head:
        raise NotARecording(f"{path} is empty")
    if head != _MAGIC:
        raise NotARecording(f"{path} is not a recording of rlprof (it is no SQLite file)")
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False, factory=SelfClosing)
    set_limit: Any = getattr(connection, "setlimit", None)  # from Python 3.11 on
    if set_limit is not None:
        set_limit(0, _MOST_BYTES)  # 0 is SQLITE_LIMIT_LENGTH
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        return _copy_of(path)
    return connection


def _copy_of(path: Path) -> sqlite3.Connection:
    """A read-only directory cannot hold the files that a reader of a journalled database shares with its writer."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, factory=SelfClosing)
    with tempfile.TemporaryDirectory(prefix="rlprof-") as folder:
        for file in (path, path.with_name(f"{path.name}-wal")):
            if file.exists():
                shutil.copy(file, folder)
        with contextlib.closing(sqlite3.connect(Path(folder) / path.name)) as connection:
            connection.backup(copy)
    return copy


def _migrated_copy(connection: sqlite3.Connection, version: int) -> sqlite3.Connection:
    """An older file is brought up to date in memory; the file itself stays as it is."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, factory=SelfClosing)
    copy.row_factory = sqlite3.Row
    connection.backup(copy)
    connection.close()
    schema.migrate(copy, version)
    return copy


def _processes(
    connection: sqlite3.Connection, connect: Connect, *, live: bool, number: int | None = None
) -> list[Process]:
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        return []
    rows: list[Any] = connection.execute("SELECT * FROM processes ORDER BY id LIMIT 100000").fetchall()
    found = []
    for row in rows:
        facts = json.loads(row["facts"])
        status = settled_status(row["status"], row["pid"], facts.get("birth"))
        if not live and row["status"] == "running":
            status = "running"  # when it was merged; whether it still is says nothing about what is in the file
        found.append(read_process(connection, row, facts, status, row["id"] if number is None else number, connect))
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
