"""Joining the parts of a run into one file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from dataclasses import asdict
from pathlib import Path

from rlprof.model.errors import EmptyRecording
from rlprof.model.recording import RecordedWarning
from rlprof.recording import schema
from rlprof.recording.liveness import settled_status
from rlprof.recording.notes import silent_processes, unreadable_part
from rlprof.recording.place import list_parts, parts_of
from rlprof.recording.reader import DAMAGE, read_part
from rlprof.recording.runfile import Run, read_run


def merge(target: Path, *, overwrite: bool = False) -> Path:
    """Join the parts of `target` into it and remove them.

    What cannot be read is named in the result, not lost: an unreadable part stays where it is. Where the result cannot
    be written, as on a full disk, an error of SQLite or of the system says so and all parts stay.
    """
    parts = parts_of(target)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    try:
        unreadable = _fill(scratch, parts)
        _put(scratch, target, overwrite)
    finally:
        scratch.unlink(missing_ok=True)
    if not unreadable:
        shutil.rmtree(parts, ignore_errors=True)
    return target


def _put(scratch: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(scratch, target)
        return
    try:
        os.link(scratch, target)  # fails where a file is, unlike a rename
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(target) from None
        os.replace(scratch, target)


def _fill(scratch: Path, parts: Path) -> list[str]:
    os.close(os.open(scratch, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600))
    connection = sqlite3.connect(scratch, isolation_level=None)
    unreadable = []
    try:
        # A journal in memory: a part that turns out to be damaged halfway through is rolled back.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")  # the scratch file is thrown away if anything fails
        schema.create(connection)
        number = 0
        written, silent = list_parts(parts)
        for part in written:
            try:
                copied = _append(connection, part, number + 1)
            except DAMAGE as error:
                if isinstance(error, sqlite3.OperationalError) and _is_sound(part):
                    raise  # then it is the result that cannot be written
                unreadable.append(part.name)
                _warn(connection, unreadable_part(part, error))
            else:
                number += copied
                silent += not copied
        if not number and not unreadable:
            raise EmptyRecording(f"{parts} holds no process: nothing was recorded before it ended")
        if silent:
            _warn(connection, silent_processes(silent))
        _write_meta(connection, read_run(parts))
    finally:
        connection.close()
    return unreadable


def _is_sound(part: Path) -> bool:
    """Whether a part can be read from end to end."""
    try:
        with contextlib.closing(sqlite3.connect(part)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False


def _warn(connection: sqlite3.Connection, warning: RecordedWarning) -> None:
    connection.execute("INSERT INTO warnings VALUES (0, ?, ?, ?)", (warning.code, warning.message, warning.remedy))


def _append(connection: sqlite3.Connection, part: Path, number: int) -> int:
    """Copy one part's rows under a process number of their own; 0 when the part never wrote anything."""
    if not read_part(part):  # also raises for a damaged part, which would make the whole result unreadable
        return 0
    connection.execute("ATTACH ? AS part", (str(part),))
    try:
        connection.execute("BEGIN")
        try:
            _copy_tables(connection, number)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    finally:
        connection.execute("DETACH part")
    return 1


def _copy_tables(connection: sqlite3.Connection, number: int) -> None:
    pid, facts, recorded = connection.execute("SELECT pid, facts, status FROM part.processes").fetchone()
    columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(processes)")][1:]
    listed = ",".join(columns)
    connection.execute(f"INSERT INTO processes (id,{listed}) SELECT ?,{listed} FROM part.processes", (number,))
    status = settled_status(recorded, pid, json.loads(facts).get("birth"))
    connection.execute("UPDATE processes SET status = ? WHERE id = ?", (status, number))
    for table in schema.PROCESS_TABLES:
        names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        rest = ",".join(name for name in names if name != "process")
        connection.execute(f"INSERT INTO {table} (process,{rest}) SELECT ?,{rest} FROM part.{table}", (number,))
    connection.execute(
        "INSERT INTO chunks (process, kind, rows, data) SELECT ?, kind, rows, data FROM part.chunks ORDER BY id",
        (number,),
    )


def _write_meta(connection: sqlite3.Connection, run: Run | None) -> None:
    if run is not None:
        connection.execute("INSERT INTO meta VALUES ('run', ?)", (json.dumps(asdict(run)),))
