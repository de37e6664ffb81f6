"""The writer's side: each flush whole or not at all, and nothing lost when the file is taken away."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlprof.recording import codec, columns
from rlprof.recording.reader import open_recording, read_connection
from rlprof.recording.store import FLUSHES_PER_CHUNK, PartStore, SlowRow, plain
from support.parts import a_batch, content, numbers, process_row, write_part


@pytest.fixture
def part(tmp_path: Path) -> Path:
    folder = tmp_path / "run.rlprof.parts"
    folder.mkdir()
    return folder / "11-aa.part"


@pytest.fixture
def store(part: Path) -> Iterator[PartStore]:
    store = PartStore(part)
    yield store
    store.close()


def read(store: PartStore) -> dict[str, Any]:
    found: dict[str, Any] = content(read_connection(store.snapshot(), "memory").main)
    return found


def chunk_sizes(store: PartStore, kind: str) -> list[int]:
    rows = store.snapshot().execute("SELECT rows FROM chunks WHERE kind = ? ORDER BY id", (kind,))
    return [size for (size,) in rows]


def test_everything_in_a_flush_can_be_read_back(store: PartStore) -> None:
    batch = a_batch(seed=3)
    store.write(batch)
    found = read(store)
    assert found["threads"][1]["name"] == "worker \\ud800\u2400"
    assert [path["name"] for path in found["paths"].values()] == ["", "iteration", "env_step", ""]
    assert found["stats"][2]["total_ns"] == 900
    assert found["stats"][2]["open_since_ns"] == [8_500, 8_600]
    assert found["stats"][1]["open_since_ns"] == [1_500]
    assert found["counters"]["env_steps"] == {"amount": 259.0, "calls": 8}
    assert found["costs"] == {0: {"inside_ns": 50.0, "outside_ns": 60.0, "error_ns": 3.5}}
    assert found["warnings"] == [{"code": "write-failed", "message": "it failed", "remedy": "look"}]
    assert found["slow_iterations"][0]["events"]["path"] == batch.slow[0].events["path"].tolist()
    for name, kind in (("windows", "windows"), ("counter_windows", "counters"), ("iterations", "iterations"),
                       ("memory", "memory"), ("events", "events")):  # fmt: skip
        for column, values in found[name].items():
            assert values == batch.tables[kind][column].tolist()


def test_totals_are_those_of_the_last_flush(store: PartStore) -> None:
    store.write(a_batch(seed=1))
    store.write(a_batch(seed=2, end_ns=20_000))
    found = read(store)
    assert found["end_ns"] == 20_000
    assert found["stats"][0]["self_ns"] == 102
    assert found["counters"]["env_steps"]["amount"] == 258.0


def test_a_flush_written_twice_changes_no_total(store: PartStore) -> None:
    batch = a_batch()
    batch.tables, batch.warnings = {}, []
    store.write(batch)
    once = read(store)
    store.write(batch)
    assert read(store) == once


@pytest.mark.parametrize("broken", ["stats", "counters", "frames", "tables", "slow"])
def test_a_flush_that_fails_leaves_nothing_of_itself(store: PartStore, broken: str) -> None:
    store.write(a_batch(seed=1))
    before = read(store)
    batch = a_batch(seed=2)
    match broken:
        case "tables":
            batch.tables["windows"] = {"start_ns": np.zeros(3)}
        case "slow":
            batch.slow = [SlowRow(1, 2, 3, 4, 5, {})]
        case _:
            setattr(batch, broken, [(object(),) * 12])
    with pytest.raises((sqlite3.Error, KeyError, ValueError, TypeError, AttributeError)):
        store.write(batch)
    assert read(store) == before
    store.write(a_batch(seed=3))
    assert len(chunk_sizes(store, "windows")) == 2


def test_many_small_chunks_become_one_with_the_same_rows(store: PartStore) -> None:
    rng = np.random.default_rng(0)
    written = []
    for number in range(2 * FLUSHES_PER_CHUNK + 3):
        batch = a_batch(number, rows=1 + number % 3)
        batch.tables = {"windows": numbers(rng, columns.WINDOWS, 1 + number % 3)}
        written.append(batch.tables["windows"])
        store.write(batch)
    sizes = chunk_sizes(store, "windows")
    assert len(sizes) == 2 + 3
    found = read(store)["windows"]
    expected = codec.join(written, columns.WINDOWS)
    assert found == {name: expected[name].tolist() for name in found}


def test_a_failure_in_the_flush_that_joins_chunks_loses_none(store: PartStore) -> None:
    rng = np.random.default_rng(0)
    written = []
    for number in range(FLUSHES_PER_CHUNK + 2):
        batch = a_batch(number)
        batch.tables = {"windows": numbers(rng, columns.WINDOWS, 2)}
        if number >= FLUSHES_PER_CHUNK - 1:
            wrong = a_batch(number)
            wrong.tables = {"windows": batch.tables["windows"], "counters": {"start_ns": [0]}}
            with pytest.raises(KeyError):
                store.write(wrong)
        written.append(batch.tables["windows"])
        store.write(batch)
    expected = codec.join(written, columns.WINDOWS)
    assert read(store)["windows"]["path"] == expected["path"].tolist()


def test_events_are_not_held_to_be_joined(store: PartStore) -> None:
    for number in range(FLUSHES_PER_CHUNK + 1):
        batch = a_batch(number)
        batch.tables = {"events": batch.tables["events"]}
        store.write(batch)
    assert chunk_sizes(store, "events") == [5] * (FLUSHES_PER_CHUNK + 1)


def test_empty_tables_make_no_chunk(store: PartStore) -> None:
    store.write(a_batch(rows=0))
    assert store.snapshot().execute("SELECT count(*) FROM chunks").fetchone() == (0,)


def slow(iteration: int) -> SlowRow:
    return SlowRow(iteration, 0, 10 * iteration, 0, 0, numbers(np.random.default_rng(0), columns.EVENTS, 1))


def test_only_the_iterations_that_are_still_among_the_slowest_are_kept(store: PartStore) -> None:
    for rows, kept in (([1, 2], [1, 2]), ([3], [2, 3]), ([], [2, 3])):
        batch = a_batch()
        batch.slow, batch.slow_kept = [slow(number) for number in rows], kept
        store.write(batch)
    assert sorted(found["index"] for found in read(store)["slow_iterations"]) == [2, 3]


def test_a_slow_iteration_that_was_overtaken_while_it_waited_is_not_kept(store: PartStore) -> None:
    batch = a_batch()
    batch.slow, batch.slow_kept = [slow(1), slow(2), slow(3)], [3]
    store.write(batch)
    assert [found["index"] for found in read(store)["slow_iterations"]] == [3]


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_part_is_there_from_the_start_and_readable_to_its_owner_alone(store: PartStore, part: Path) -> None:
    assert part.stat().st_size == 0
    assert stat.S_IMODE(part.stat().st_mode) == 0o600
    store.write(a_batch())
    assert {stat.S_IMODE(file.stat().st_mode) for file in part.parent.iterdir()} == {0o600}


def test_a_reader_sees_each_flush_while_the_writer_goes_on(store: PartStore, part: Path) -> None:
    for end in (2_000, 3_000):
        store.write(a_batch(end_ns=end))
        assert open_recording(part.parent).main.end_ns == end


def test_a_file_that_was_removed_is_missed(store: PartStore, part: Path) -> None:
    assert not store.missing()
    store.write(a_batch())
    assert not store.missing()
    shutil.rmtree(part.parent)
    assert store.missing()


def test_a_file_that_was_replaced_by_another_is_missed(store: PartStore, part: Path) -> None:
    store.write(a_batch())
    part.rename(part.with_suffix(".old"))
    part.touch()
    assert store.missing()


def test_a_store_in_memory_misses_no_file() -> None:
    store = PartStore(None)
    store.write(a_batch())
    assert not store.missing()
    store.close()


def test_all_that_was_written_moves_to_the_new_file(store: PartStore, part: Path) -> None:
    store.write(a_batch(seed=1))
    before = read(store)
    shutil.rmtree(part.parent)
    store.move_to(part)
    assert not store.missing()
    assert content(open_recording(part.parent).main) == before
    store.write(a_batch(seed=2, end_ns=50_000))
    assert open_recording(part.parent).main.end_ns == 50_000


def test_a_journal_left_behind_does_not_get_into_the_new_file(store: PartStore, part: Path) -> None:
    store.write(a_batch(seed=1))
    before = read(store)
    part.unlink()
    assert part.with_name(part.name + "-wal").exists()
    store.move_to(part)
    assert content(open_recording(part.parent).main) == before


def test_a_move_that_fails_leaves_no_half_file_that_looks_whole(
    store: PartStore, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(a_batch(seed=1))
    before = read(store)
    shutil.rmtree(part.parent)
    monkeypatch.setattr("rlprof.recording.store._open", lambda path: sqlite3.connect("file:/?mode=ro", uri=True))
    with pytest.raises(sqlite3.Error):
        store.move_to(part)
    assert store.missing()
    monkeypatch.undo()
    store.move_to(part)
    assert content(open_recording(part.parent).main) == before


def test_a_saved_copy_is_one_plain_file_that_reads_like_the_original(store: PartStore, tmp_path: Path) -> None:
    store.write(a_batch(seed=1))
    store.save_copy(tmp_path / "copy.rlprof")
    assert content(open_recording(tmp_path / "copy.rlprof").main) == read(store)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.rlprof", "run.rlprof.parts"]
    assert stat.S_IMODE((tmp_path / "copy.rlprof").stat().st_mode) == 0o600


def test_a_copy_that_fails_leaves_what_was_there(
    store: PartStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(a_batch())
    target = tmp_path / "copy.rlprof"
    target.write_text("precious")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        store.save_copy(target)
    assert target.read_text() == "precious"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.rlprof", "run.rlprof.parts"]


def test_a_snapshot_does_not_change_when_writing_goes_on(store: PartStore) -> None:
    store.write(a_batch(end_ns=5))
    snapshot = store.snapshot()
    store.write(a_batch(end_ns=6))
    assert read_connection(snapshot, "memory").main.end_ns == 5


def test_a_part_killed_while_it_wrote_holds_the_flush_before(part: Path) -> None:
    store = PartStore(part)
    store.write(a_batch(seed=1))
    journal = part.with_name(part.name + "-wal")
    before = journal.stat().st_size
    store.write(a_batch(seed=2, end_ns=77_000))
    head, whole = part.read_bytes(), journal.read_bytes()  # as they lie on the disk while the writer has them open
    store.close()

    def end_when_killed_at(size: int) -> int:
        copy = part.parent.with_name(f"{size}.rlprof.parts")
        copy.mkdir()
        (copy / part.name).write_bytes(head)
        (copy / journal.name).write_bytes(whole[:size])
        return open_recording(copy).main.end_ns

    assert {end_when_killed_at(size) for size in range(before, len(whole), 1500)} == {9_000}
    assert end_when_killed_at(len(whole)) == 77_000


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "ok ☃", ""])
def test_any_text_can_be_written(text: str) -> None:
    plain(text).encode()
    assert "\0" not in plain(text)


def test_names_with_anything_in_them_are_written(tmp_path: Path) -> None:
    batch = a_batch()
    name = 'x\0\ud800"; DROP TABLE paths; --'
    batch.paths[2] = (2, 1, 0, name, "env.step", 0)
    batch.counters = [(0, name, 1.0, 1)]
    batch.frames = [(0, None, name, name, 1)]
    batch.process = process_row(argv=[name])
    write_part(tmp_path / "a.rlprof.parts", batch)
    found = open_recording(tmp_path / "a.rlprof.parts").main
    assert found.paths[2].name == plain(name)
    assert found.counter_names == (plain(name),)
