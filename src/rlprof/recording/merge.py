"""Joining the parts of a run into one file."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rlprof.model.errors import EmptyRecording, NotARecording, OutputExists, RecordingNotFound, RlprofError
from rlprof.model.recording import RecordedWarning
from rlprof.recording import schema
from rlprof.recording.liveness import settled_status
from rlprof.recording.notes import no_readable_part, silent_processes, still_running, unreadable_part
from rlprof.recording.place import PART_SUFFIX, list_parts, parts_of
from rlprof.recording.reader import DAMAGE, open_database, read_part
from rlprof.recording.runfile import Run, read_run
from rlprof.recording.store import plain, remove_database


def merge(target: Path, *, overwrite: bool = False) -> Path:
    """Join the parts of `target` into it and remove them.

    What cannot be read is named in the result, not lost: an unreadable part stays where it is. Where the result cannot
    be written, as on a full disk, an error of SQLite or of the system says so and all parts stay.
    """
    parts = parts_of(target)
    if not parts.is_dir():
        raise RecordingNotFound(f"there are no parts to join at {parts}")
    if target.exists() and not overwrite:
        raise _exists(target)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    try:
        unreadable = _fill(scratch, parts)
        _put(scratch, target, overwrite)
    finally:
        scratch.unlink(missing_ok=True)
    _tidy(parts, unreadable)
    return target


def _tidy(parts: Path, unreadable: list[Path]) -> None:
    """What is in the result goes; what could not be read stays, for whoever can."""
    if not unreadable:
        shutil.rmtree(parts, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        for part in parts.glob(f"*{PART_SUFFIX}"):
            if part not in unreadable:
                remove_database(part)


def _exists(target: Path) -> OutputExists:
    return OutputExists(f"{target} exists already: move it away first, or allow it to be replaced")


def _put(scratch: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(scratch, target)
        return
    try:
        os.link(scratch, target)  # fails where a file is, unlike a rename
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without links
        if target.exists():
            raise _exists(target) from None
        os.replace(scratch, target)


def _fill(scratch: Path, parts: Path) -> list[Path]:
    """Make the result; the parts that could not be read."""
    os.close(os.open(scratch, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600))
    connection = sqlite3.connect(scratch, isolation_level=None)
    unreadable: list[Path] = []
    warnings: list[RecordedWarning] = []
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
            except NotARecording as error:
                unreadable.append(part)
                warnings.append(unreadable_part(part, error))
            else:
                number += copied
                silent += not copied
        if not number:
            raise _nothing_to_join(parts, warnings)
        _write_notes(connection, warnings, silent)
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


def _nothing_to_join(parts: Path, warnings: list[RecordedWarning]) -> RlprofError:
    if warnings:
        return no_readable_part(parts, warnings)
    return EmptyRecording(f"{parts} holds no process: nothing was recorded before it ended")


def _write_notes(connection: sqlite3.Connection, warnings: list[RecordedWarning], silent: int) -> None:
    (running,) = connection.execute("SELECT count(*) FROM processes WHERE status = 'running'").fetchone()
    if silent:
        warnings.append(silent_processes(silent))
    if running:
        warnings.append(still_running(running))
    rows = [(plain(w.code), plain(w.message), plain(w.remedy)) for w in warnings]
    connection.executemany("INSERT INTO warnings VALUES (0, ?, ?, ?)", rows)


def _append(connection: sqlite3.Connection, part: Path, number: int) -> int:
    """Copy one part's rows under a process number of their own; 0 when the part never wrote anything.

    Raises NotARecording for a part that cannot be read, and anything else where the result cannot be written.
    """
    try:
        found = read_part(part, keep_open=False)  # first, because a damaged part would make the whole result unreadable
    except DAMAGE as error:
        raise NotARecording(str(error)) from None
    if not found:
        return 0
    try:
        with _up_to_date(part) as current:
            _copy(connection, current, number)
    except sqlite3.Error as error:
        if _is_sound(part):
            raise
        raise NotARecording(str(error)) from None
    return 1


@contextlib.contextmanager
def _up_to_date(part: Path) -> Iterator[Path]:
    """The part itself, or a copy of it in today's layout when an older rlprof wrote it."""
    copy = part.with_name(f".{part.name}.{os.getpid()}")
    try:
        with contextlib.closing(open_database(part)) as opened:
            migrated = not opened.execute("PRAGMA database_list").fetchone()[2]  # then it has no file
            if migrated:
                with contextlib.closing(sqlite3.connect(copy)) as connection:
                    opened.backup(connection)
        yield copy if migrated else part
    finally:
        copy.unlink(missing_ok=True)


def _copy(connection: sqlite3.Connection, part: Path, number: int) -> None:
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
