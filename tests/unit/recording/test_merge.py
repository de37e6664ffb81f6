"""A merged recording is as good as its parts: the same to every reader, and nothing lost on the way."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlprof.analyse.report import build_report
from rlprof.model.errors import EmptyRecording, NewerRecording, NotARecording, OutputExists, RecordingNotFound
from rlprof.recording import schema
from rlprof.recording.merge import merge
from rlprof.recording.place import parts_of
from rlprof.recording.reader import open_recording
from rlprof.recording.runfile import Run, read_run, write_run
from support.parts import DEAD_PID, a_batch, change, codes, content, content_of_run, write_part

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "run.rlprof"


def three_processes(target: Path) -> list[Path]:
    parts = parts_of(target)
    return [
        write_part(parts, a_batch(1, "11-aa"), a_batch(4, "11-aa", end_ns=30_000)),
        write_part(parts, a_batch(2, "22-bb", role="fork", parent_uid="11-aa", status="failed", exit_code=3)),
        write_part(parts, a_batch(3, "33-cc", role="spawn", parent_uid="11-aa", status="running", pid=DEAD_PID)),
    ]


def test_the_merged_recording_reads_like_its_parts(target: Path) -> None:
    three_processes(target)
    write_run(parts_of(target), Run(("rlprof", "run", "train.py"), 1.5, "failed", 3))
    from_parts = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    assert merge(target) == target
    assert content_of_run(open_recording(target)) == from_parts
    assert from_parts["command"] == ["rlprof", "run", "train.py"]
    assert [process["id"] for process in from_parts["processes"]] == [1, 2, 3]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seeds=st.lists(st.integers(0, 1000), min_size=1, max_size=5, unique=True), flushes=st.integers(1, 3))
def test_any_parts_read_alike_before_and_after_a_merge(tmp_path: Path, seeds: list[int], flushes: int) -> None:
    target = tmp_path / "any.rlprof"
    for seed in seeds:
        uid = f"{seed}-x"
        batches = [a_batch(seed + flush, uid, rows=seed % 7, start_ns=seed) for flush in range(flushes)]
        write_part(parts_of(target), *batches)
    from_parts = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    merge(target)
    assert content_of_run(open_recording(target)) == from_parts
    target.unlink()


def test_the_order_of_parts_does_not_matter(tmp_path: Path) -> None:
    found = []
    for number, names in enumerate(permutations(["a", "b", "c"])):
        target = tmp_path / f"{number}.rlprof"
        for seed, name in enumerate(names):
            part = write_part(parts_of(target), a_batch(seed, f"uid-{seed}", start_ns=seed))
            part.rename(part.with_name(f"{name}.part"))  # a merge takes parts by their names
        merge(target)
        processes = content_of_run(open_recording(target))["processes"]
        found.append([{**process, "id": None} for process in processes])
    assert all(processes == found[0] for processes in found)


def test_every_table_of_a_process_is_copied(target: Path) -> None:
    three_processes(target)
    merge(target)
    connection = sqlite3.connect(target)
    for table in (*schema.PROCESS_TABLES, "chunks"):
        numbers = {number for (number,) in connection.execute(f"SELECT DISTINCT process FROM {table}")}
        assert numbers == {1, 2, 3}, table
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert tables == {*schema.PROCESS_TABLES, "chunks", "processes", "meta"}


def test_parts_are_gone_after_a_merge_and_the_result_is_its_owner_s_alone(target: Path) -> None:
    three_processes(target)
    merge(target)
    assert [file.name for file in target.parent.iterdir()] == [target.name]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_process_that_was_killed_is_called_so_in_the_result(target: Path) -> None:
    three_processes(target)
    merge(target)
    assert {process.uid: process.status for process in open_recording(target).processes} == {
        "11-aa": "completed",
        "22-bb": "failed",
        "33-cc": "killed",
    }


def test_a_process_that_still_runs_is_named_in_the_result(target: Path) -> None:
    write_part(parts_of(target), a_batch(1, "11-aa"))
    write_part(parts_of(target), a_batch(2, "22-bb", status="running", role="fork", parent_uid="11-aa"))
    merge(target)
    recording = open_recording(target)
    assert [process.status for process in recording.processes] == ["completed", "running"]
    assert codes(recording.warnings) == ["process-still-running"]


def test_processes_that_never_wrote_are_counted(target: Path) -> None:
    three_processes(target)
    (parts_of(target) / "44-dd.part").touch()
    sqlite3.connect(parts_of(target) / "55-ee.part").execute("PRAGMA journal_mode = WAL").connection.close()
    from_parts = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    merge(target)
    merged = content_of_run(open_recording(target))
    assert merged == from_parts
    assert merged["warnings"][0]["code"] == "process-silent"
    assert merged["warnings"][0]["message"].startswith("2 processes")


# --- damage -----------------------------------------------------------------------------------------------------------


def flip_page(path: Path) -> None:
    """Damage the inside of a database, not its head."""
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 3] = b"\xa5" * 4096
    path.write_bytes(bytes(data))


DAMAGES: dict[str, Any] = {
    "no database": lambda part: part.write_bytes(b"not a database at all, but long enough" * 200),
    "truncated": lambda part: os.truncate(part, 3000),
    "damaged inside": flip_page,
    "no such facts": lambda part: change(part, "UPDATE processes SET facts = '[1]'"),
    "facts too deep": lambda part: change(part, f"UPDATE processes SET facts = '{'[' * 100_000}'"),
    "a table is gone": lambda part: change(part, "DROP TABLE path_stats"),
    "a column is gone": lambda part: change(part, "DROP VIEW operations", "ALTER TABLE processes DROP COLUMN uid"),
    "an orphaned path": lambda part: change(part, "UPDATE paths SET parent = 77 WHERE id = 2"),
    "text that is none": lambda part: change(part, "UPDATE paths SET name = x'ff' WHERE id = 2"),
    "a number that is none": lambda part: change(part, "UPDATE path_stats SET total_ns = 'many' WHERE path = 2"),
    "another program's": lambda part: change(part, "PRAGMA application_id = 77"),
    "newer": lambda part: change(part, f"PRAGMA user_version = {schema.VERSION + 1}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_unreadable_part_stays_and_is_named_and_the_others_are_merged(target: Path, damage: str, which: int) -> None:
    parts = three_processes(target)
    intact = {p["uid"]: p for p in content_of_run(open_recording(parts_of(target)))["processes"]}
    DAMAGES[damage](parts[which])
    wrong = parts[which].read_bytes()
    from_parts = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    merge(target)
    merged = open_recording(target)
    assert content_of_run(merged) == from_parts
    assert codes(merged.warnings) == ["part-unreadable"]
    assert parts[which].name in merged.warnings[0].message
    assert parts[which].read_bytes() == wrong
    assert [file for file in parts_of(target).iterdir() if file.suffix == ".part"] == [parts[which]]
    for process in merged.processes:
        assert {**content(process), "id": None} == {**intact[process.uid], "id": None}


def test_the_directory_of_an_unreadable_part_leads_to_what_was_merged(target: Path) -> None:
    parts = three_processes(target)
    parts[0].write_bytes(b"rubbish")
    merge(target)
    assert open_recording(parts_of(target)).source == str(target)


def test_where_no_part_can_be_read_nothing_is_made_and_nothing_removed(target: Path) -> None:
    parts = three_processes(target)
    for part in parts:
        part.write_bytes(b"rubbish")
    with pytest.raises(NotARecording, match=r"11-aa\.part"):
        merge(target)
    with pytest.raises(NotARecording, match=r"11-aa\.part"):
        open_recording(parts_of(target))
    assert not target.exists()
    assert sorted(parts_of(target).iterdir()) == parts


def test_where_no_process_came_to_write_there_is_nothing_to_merge(target: Path) -> None:
    parts_of(target).mkdir()
    (parts_of(target) / "44-dd.part").touch()
    with pytest.raises(EmptyRecording):
        merge(target)
    assert not target.exists()


def test_where_there_are_no_parts_nothing_is_made(target: Path) -> None:
    with pytest.raises(RecordingNotFound):
        merge(target)
    assert list(target.parent.iterdir()) == []


# --- what is there already --------------------------------------------------------------------------------------------


def test_an_existing_recording_is_not_overwritten_unasked(target: Path) -> None:
    three_processes(target)
    target.write_text("precious")
    with pytest.raises(OutputExists):
        merge(target)
    assert target.read_text() == "precious"
    assert len(open_recording(parts_of(target)).processes) == 3


def test_a_recording_that_appears_during_the_merge_is_not_overwritten(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_processes(target)
    linked = os.link

    def late(scratch: Path, place: Path) -> None:
        place.write_text("precious")
        linked(scratch, place)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(OutputExists):
        merge(target)
    assert target.read_text() == "precious"
    assert len(open_recording(parts_of(target)).processes) == 3


def test_a_file_system_without_links_will_do(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refused)
    three_processes(target)
    merge(target)
    assert len(open_recording(target).processes) == 3


def test_an_existing_recording_is_replaced_when_asked(target: Path) -> None:
    three_processes(target)
    target.write_text("old")
    merge(target, overwrite=True)
    assert len(open_recording(target).processes) == 3


def test_a_merge_that_fails_leaves_all_parts_and_no_half_result(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three_processes(target)
    before = content_of_run(open_recording(parts_of(target)))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rlprof.recording.merge._write_meta", full)
    with pytest.raises(OSError, match="No space"):
        merge(target)
    assert [file.name for file in target.parent.iterdir()] == [parts_of(target).name]
    assert content_of_run(open_recording(parts_of(target))) == before


# --- versions ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up next layout, in which threads tell their priority."""

    def add_priority(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE threads ADD COLUMN priority INTEGER NOT NULL DEFAULT 0")
        connection.execute("UPDATE threads SET name = name || ' (migrated)'")

    tables = schema.TABLES.replace("is_main INTEGER NOT NULL,", "is_main INTEGER NOT NULL, priority INTEGER,")
    assert tables != schema.TABLES
    monkeypatch.setattr(schema, "TABLES", tables)
    monkeypatch.setitem(schema.MIGRATIONS, schema.VERSION, add_priority)
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)


def test_an_older_recording_is_migrated_for_the_reader_and_stays_as_it_is(
    target: Path, request: pytest.FixtureRequest
) -> None:
    three_processes(target)
    merge(target)
    bytes_before = target.read_bytes()
    request.getfixturevalue("next_version")
    names = [thread.name for thread in open_recording(target).main.threads]
    assert all(name.endswith("(migrated)") for name in names)
    assert target.read_bytes() == bytes_before


def test_older_parts_are_migrated_by_a_merge(target: Path, request: pytest.FixtureRequest) -> None:
    three_processes(target)
    request.getfixturevalue("next_version")
    from_parts = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    merge(target)
    merged = open_recording(target)
    assert content_of_run(merged) == from_parts
    assert merged.main.threads[0].name == "MainThread (migrated)"
    assert not parts_of(target).exists()
    connection = sqlite3.connect(target)
    assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    connection.close()


def test_a_recording_of_the_first_layout_reads_as_it_did() -> None:
    recording = open_recording(GOLDEN / "layout-1.rlprof")
    main, worker = recording.processes
    counts = {main.paths[path].name: stats.count for path, stats in main.stats.items() if stats.count}
    assert counts == {"iteration": 5, "act": 5, "env.step": 5, "learn": 5}
    assert {stats.untimed for stats in (*main.stats.values(), *worker.stats.values())} == {0}
    assert (main.counters["env_steps"].amount, worker.counters["env_steps"].amount) == (40, 24)
    assert sum(stats.self_ns for stats in main.stats.values()) == main.recorded_ns
    assert len(main.windows.start_ns) > 0
    report = build_report(recording)
    assert report.throughput.iterations == 5
    assert [phase.phase for phase in report.phases] == ["env.step", "policy.forward", "learn.backward"]


def test_a_newer_recording_is_refused_with_what_to_do(target: Path) -> None:
    three_processes(target)
    merge(target)
    change(target, f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(NewerRecording, match="install a newer rlprof"):
        open_recording(target)


def test_a_layout_without_a_way_to_today_s_is_refused(target: Path) -> None:
    three_processes(target)
    merge(target)
    change(target, "PRAGMA user_version = 0")
    with pytest.raises(NotARecording, match="no way from layout 0"):
        open_recording(target)


# --- the run's own file -----------------------------------------------------------------------------------------------


def test_what_is_known_of_the_run_comes_back(tmp_path: Path) -> None:
    run = Run(("rlprof", "run", "träin.py"), 12.5, "interrupted", 130)
    write_run(tmp_path, run)
    assert read_run(tmp_path) == run
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "3", "{}", '{"command": [], "started": 1, "status": "odd", "exit_code": null}', "[" * 100_000,
        '{"command": [], "started": NaN, "status": "failed", "exit_code": 1}',
        '{"command": 3, "started": 1, "status": "failed", "exit_code": 1}',
    ],
    ids=["empty", "list", "number", "nothing", "unknown status", "too deep", "not a time", "no command"],
)  # fmt: skip
def test_a_damaged_run_file_is_as_good_as_none(target: Path, text: str) -> None:
    three_processes(target)
    (parts_of(target) / "run.json").write_text(text)
    assert read_run(parts_of(target)) is None
    assert open_recording(parts_of(target)).command == ("python", "train.py", "--seed=1")
    merge(target)
    assert open_recording(target).command == ("python", "train.py", "--seed=1")


def test_a_copy_of_the_directory_reads_like_the_original(target: Path) -> None:
    three_processes(target)
    copied = target.with_name("other.rlprof.parts")
    shutil.copytree(parts_of(target), copied)
    original = content_of_run(open_recording(parts_of(target)), without=["unmerged"])
    assert content_of_run(open_recording(copied), without=["unmerged"]) == original
