"""Reading: whatever is in a file, one clear error or a recording, and never more memory or handles than needed."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlprof.model.errors import EmptyRecording, NotARecording, RlprofError
from rlprof.model.recording import Process
from rlprof.recording import codec, columns, reader
from rlprof.recording.merge import merge
from rlprof.recording.place import PART_SUFFIX, parts_of
from rlprof.recording.reader import open_recording
from rlprof.recording.store import PartStore
from support.parts import DEAD_PID, a_batch, change, codes, content, content_of_run, write_part


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A merged recording of one process."""
    target = tmp_path / "run.rlprof"
    write_part(parts_of(target), a_batch())
    return merge(target)


def load_all(path: Path) -> None:
    content(open_recording(path))


FOREIGN: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("hello " * 1000),
    "head only": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "another database": lambda path: (path.unlink(), change(path, "CREATE TABLE a (b)")),
    "a database without tables": lambda path: (path.unlink(), change(path, "PRAGMA user_version = 1")),
    "our mark and nothing else": lambda path: (path.unlink(), change(path, "PRAGMA application_id = 1919709286")),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_no_recording_is_one_clear_error(recording: Path, kind: str) -> None:
    FOREIGN[kind](recording)
    with pytest.raises(NotARecording) as caught:
        load_all(recording)
    assert str(recording) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_recording_without_a_process_is_called_empty(recording: Path) -> None:
    change(recording, "DELETE FROM processes")
    with pytest.raises(EmptyRecording):
        open_recording(recording)


def test_a_directory_without_parts_is_called_empty(tmp_path: Path) -> None:
    with pytest.raises(EmptyRecording):
        open_recording(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 1 << 20), value=st.integers(0, 255), length=st.sampled_from([1, 4, 64]))
def test_a_damaged_byte_gives_an_error_of_ours_or_a_recording(
    recording: Path, at: int, value: int, length: int
) -> None:
    broken = bytearray(recording.read_bytes())
    start = at % len(broken)
    broken[start : start + length] = bytes([value]) * len(broken[start : start + length])
    copy = recording.with_name(f"{at}-{value}-{length}.rlprof")
    copy.write_bytes(bytes(broken))
    try:
        load_all(copy)
    except RlprofError:
        pass
    finally:
        copy.unlink()


COLUMNS = {
    "processes": "uid pid role argv started start_ns end_ns recorded_ns status exit_code facts costs losses",
    "threads": "id name is_main",
    "paths": "parent thread name phase kind",
    "path_stats": "count total_ns self_ns min_ns max_ns charged_ns rss_peak rss_exact histogram",
    "open_spans": "path start_ns",
    "counters": "id name amount calls",
    "chunks": "kind rows data",
    "slow_iterations": "start_ns duration_ns elided rows data",
    "frames": "parent function file line",
    "warnings": "code message remedy",
}
VALUES = ("NULL", "3", "-1", "9e999", "''", "'text'", "'[]'", "'{}'", "x'00ff'", "9223372036854775807")


@pytest.mark.parametrize("table", COLUMNS)
def test_any_value_in_any_column_gives_an_error_of_ours_or_a_recording(recording: Path, table: str) -> None:
    for column in COLUMNS[table].split():
        for number, value in enumerate(VALUES):
            copy = recording.with_name(f"{column}-{number}.rlprof")
            shutil.copy(recording, copy)
            try:
                change(copy, f"UPDATE {table} SET {column} = {value}")
                load_all(copy)
            except (RlprofError, sqlite3.IntegrityError):  # the latter: the schema itself refuses it
                pass


def test_frames_that_call_each_other_in_a_circle_are_refused(recording: Path) -> None:
    change(recording, "UPDATE frames SET parent = 1 WHERE id = 0")
    with pytest.raises(NotARecording, match="no caller"):
        load_all(recording)


def test_paths_that_contain_each_other_are_refused(recording: Path) -> None:
    change(recording, "UPDATE paths SET parent = 2 WHERE id = 1")
    with pytest.raises(NotARecording, match="no parent"):
        load_all(recording)


def test_a_table_of_endless_rows_is_refused_before_memory_runs_out(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "MAX_TABLE_ROWS", 1000)
    rows = 400
    blob = columns.pack({c.name: np.zeros(rows, np.int64) for c in columns.EVENTS}, columns.EVENTS)
    connection = sqlite3.connect(recording)
    with connection:
        insert = "INSERT INTO chunks (process, kind, rows, data) VALUES (1, 'events', ?, ?)"
        connection.executemany(insert, [(rows, blob)] * 50)
    connection.close()
    with pytest.raises(NotARecording, match="more than 1000 rows of events"):
        _ = open_recording(recording).main.events


def test_damage_in_one_large_table_leaves_the_others_readable(recording: Path) -> None:
    connection = sqlite3.connect(recording)
    with connection:
        connection.execute("UPDATE chunks SET data = ? WHERE kind = 'events'", (zlib.compress(b"x"),))
    connection.close()
    main = open_recording(recording).main
    assert len(main.windows.path) == 5
    with pytest.raises(NotARecording, match="damaged"):
        _ = main.events


def test_a_value_too_large_to_be_ours_is_refused(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_MOST_BYTES", 100_000)
    change(recording, "UPDATE processes SET facts = '{\"a\": \"' || printf('%.200000c', 'x') || '\"}'")
    if hasattr(sqlite3.Connection, "setlimit"):
        with pytest.raises(NotARecording, match="too big"):
            open_recording(recording)


# --- who is who -------------------------------------------------------------------------------------------------------


def test_the_main_process_comes_first_and_the_others_by_their_start(tmp_path: Path) -> None:
    parts = tmp_path / "run.rlprof.parts"
    write_part(parts, a_batch(1, "a", role="fork", parent_uid="m", start_ns=50))
    write_part(parts, a_batch(2, "b", role="fork", parent_uid="m", start_ns=40))
    write_part(parts, a_batch(3, "m", start_ns=60))
    assert [process.uid for process in open_recording(parts).processes] == ["m", "b", "a"]


def test_a_run_whose_main_process_left_no_part_is_read_with_what_there_is(tmp_path: Path) -> None:
    parts = tmp_path / "run.rlprof.parts"
    write_part(parts, a_batch(1, "a", role="fork", parent_uid="lost", status="running", pid=DEAD_PID))
    recording = open_recording(parts)
    assert recording.main.uid == "a"
    assert recording.status == "killed"
    assert codes(recording.warnings) == ["unmerged"]


def test_a_run_that_still_goes_on_is_called_running_and_not_unmerged(tmp_path: Path) -> None:
    parts = tmp_path / "run.rlprof.parts"
    write_part(parts, a_batch(status="running"))
    recording = open_recording(parts)
    assert recording.status == "running"
    assert recording.warnings == ()


@pytest.mark.parametrize("kept_open", [0, 1])
def test_a_part_that_is_written_while_it_is_read_is_read_as_it_was_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_open: int
) -> None:
    parts = tmp_path / "run.rlprof.parts"
    parts.mkdir()
    writer = PartStore(parts / f"11-aa{PART_SUFFIX}")
    writer.write(a_batch(seed=1, end_ns=10_000))
    read_process = reader.read_process

    def late(*arguments: Any) -> Process:
        writer.write(a_batch(seed=2, end_ns=20_000))
        return read_process(*arguments)

    monkeypatch.setattr(reader, "PARTS_KEPT_OPEN", kept_open)
    monkeypatch.setattr(reader, "read_process", late)
    main = open_recording(parts).main
    assert (main.end_ns, main.counters["env_steps"].amount) == (10_000, 257.0)
    monkeypatch.undo()
    assert open_recording(parts).main.counters["env_steps"].amount == 258.0
    writer.close()


def test_parts_that_were_merged_while_they_were_read_are_read_as_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run.rlprof"
    write_part(parts_of(target), a_batch(1, "11-aa"))
    write_part(parts_of(target), a_batch(2, "22-bb"))
    list_parts = reader.list_parts

    def late(parts: Path) -> tuple[list[Path], int]:
        found = list_parts(parts)
        merge(target)
        return found

    monkeypatch.setattr(reader, "list_parts", late)
    recording = open_recording(parts_of(target))
    assert recording.source == str(target)
    assert len(recording.processes) == 2


def test_thousands_of_parts_do_not_use_up_the_file_handles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PARTS_KEPT_OPEN", 3)
    target = tmp_path / "run.rlprof"
    for number in range(12):
        write_part(parts_of(target), a_batch(number, f"{number:02}-x", start_ns=number))
    gc.collect()
    gc.disable()
    try:
        before = len(os.listdir("/proc/self/fd"))
        recording = open_recording(parts_of(target))
        from_parts = content_of_run(recording, without=["unmerged"])
        assert len(os.listdir("/proc/self/fd")) == before
        merge(target)
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        gc.enable()
    assert content_of_run(open_recording(target)) == from_parts


def test_a_part_in_a_place_that_cannot_be_written_is_read_with_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = tmp_path / "run.rlprof.parts"
    write_part(parts, a_batch(end_ns=44_000))
    connect = sqlite3.connect

    class ReadOnly(sqlite3.Connection):
        def execute(self, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
            raise sqlite3.OperationalError("unable to open database file")

    def refuse(database: object, **options: object) -> sqlite3.Connection:
        if "mode=ro" in str(database):
            return connect(":memory:", factory=ReadOnly)
        return connect(database, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", refuse)
    assert open_recording(parts).main.end_ns == 44_000
