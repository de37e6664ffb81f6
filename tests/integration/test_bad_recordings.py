"""`rlprof report` on what is no recording, or no longer one: one line and exit code 2, or what can still be read."""

from __future__ import annotations

import random
import resource
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlprof.cli.main import main
from support.programs import RLPROF, processes, read_report, run, run_recorded, write_program

SAMPLE = """
    import os, time, rlprof

    if os.fork() == 0:
        with rlprof.profile("child"):
            time.sleep(0.01)
        raise SystemExit
    os.wait()
    for _ in range(30):
        rlprof.iteration()
        with rlprof.profile("env_step", phase="env.step", track_memory=True):
            for _ in range(20):
                with rlprof.profile("inner"):
                    pass
            time.sleep(0.005)
        rlprof.count("env_steps", 8)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = write_program(tmp_path_factory.mktemp("whole"), SAMPLE)
    done = run_recorded(script, options=["--schedule", "active=2"])
    assert done.code == 0, done.err
    return done.target


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "copy.rlprof"))


def assert_refused(path: Path | str, *words: str) -> None:
    """The command says what is wrong in one line of its own and ends with 2."""
    done = run([*RLPROF, "report", str(path)], Path.cwd())
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1, done.err
    assert done.err.startswith("rlprof: ")
    for word in words:
        assert word in done.err


def read_or_refuse(path: Path) -> bool:
    """Whether a report could be made; the other end is one line and exit code 2, and there is no third."""
    result = CliRunner().invoke(main, ["report", str(path), "--json", "-"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{path} was neither read nor refused") from result.exception
    assert result.exit_code in (0, 2), result.output
    if result.exit_code == 2:
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("rlprof: ")
    return result.exit_code == 0


def test_a_recording_that_does_not_exist(tmp_path: Path) -> None:
    assert_refused(tmp_path / "absent.rlprof", "absent.rlprof", "no recording")


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.rlprof").touch()
    assert_refused(tmp_path / "empty.rlprof", "empty")


def test_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "notes.rlprof").write_text("shopping list")
    assert_refused(tmp_path / "notes.rlprof", "not a recording")


def test_another_database(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.rlprof") as other:
        other.execute("CREATE TABLE processes (id INTEGER)")
    other.close()
    assert_refused(tmp_path / "other.rlprof", "not a recording")


def test_a_newer_recording(copy: Path) -> None:
    change(copy, lambda recording: recording.execute("PRAGMA user_version = 99"))
    assert_refused(copy, "99", "newer rlprof")


def test_a_directory_without_parts(tmp_path: Path) -> None:
    (tmp_path / "bare.rlprof.parts").mkdir()
    assert_refused(tmp_path / "bare.rlprof.parts")
    assert_refused(tmp_path)


def test_a_directory_whose_only_part_is_garbage(tmp_path: Path) -> None:
    parts = tmp_path / "g.rlprof.parts"
    parts.mkdir()
    (parts / "1-a.part").write_bytes(b"garbage")
    assert_refused(parts)


def test_one_garbled_part_does_not_cost_the_others(whole: Path, tmp_path: Path) -> None:
    parts = tmp_path / "g.rlprof.parts"
    parts.mkdir()
    shutil.copy(whole, parts / "1-a.part")
    (parts / "2-b.part").write_bytes(b"garbage")
    report = read_report(parts)
    assert processes(report)
    assert any("2-b.part" in warning["message"] for warning in report["warnings"])


@pytest.mark.parametrize("table", ["processes", "paths", "path_stats", "chunks", "counters", "threads", "frames"])
def test_a_recording_without_one_of_its_tables(copy: Path, table: str) -> None:
    change(copy, lambda recording: recording.execute(f"DROP TABLE {table}"))
    assert_refused_here(copy)


def assert_refused_here(path: Path) -> None:
    assert not read_or_refuse(path)


HOSTILE_ROWS = [
    "UPDATE processes SET facts = '[1]'",
    "UPDATE processes SET costs = '{\"x\": 1}'",
    "UPDATE processes SET losses = 'null'",
    "UPDATE processes SET started = 'yesterday'",
    "UPDATE processes SET start_ns = 'soon'",
    "UPDATE processes SET start_ns = 9223372036854775807, end_ns = -9223372036854775808",
    "UPDATE processes SET recorded_ns = -1",
    "UPDATE processes SET status = 'fine'",
    "UPDATE processes SET argv = '" + "[" * 100_000 + "'",
    "UPDATE processes SET pid = 9223372036854775807",
    "UPDATE paths SET parent = id + 1",
    "UPDATE paths SET parent = id",
    "UPDATE paths SET name = x'ff00', kind = 77",
    "UPDATE paths SET thread = 99",
    "UPDATE path_stats SET count = -5, self_ns = 9223372036854775807",
    "UPDATE path_stats SET histogram = x'01'",
    "UPDATE path_stats SET min_ns = 'x'",
    "UPDATE counters SET amount = 9e999",
    "UPDATE chunks SET rows = 4000000000",
    "UPDATE chunks SET rows = -1",
    "UPDATE chunks SET data = x'00'",
    "UPDATE frames SET parent = id",
    "UPDATE slow_iterations SET rows = 1000000000000",
    "DELETE FROM threads",
    "DELETE FROM paths",
    "DELETE FROM processes",
]


@pytest.mark.parametrize("statement", HOSTILE_ROWS, ids=[statement[:60] for statement in HOSTILE_ROWS])
def test_rows_that_rlprof_would_never_write(copy: Path, statement: str) -> None:
    change(copy, lambda recording: recording.execute(statement))
    read_or_refuse(copy)


def change(path: Path, action: Callable[[sqlite3.Connection], object]) -> None:
    recording = sqlite3.connect(path)
    action(recording)
    recording.commit()
    recording.close()


def test_a_recording_cut_off_at_any_length(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    chooser = random.Random(1)
    lengths = {0, 1, 15, 16, 17, 99, 100, 101, 4095, 4096, 4097, len(content) - 1, len(content)}
    lengths |= {chooser.randrange(len(content)) for _ in range(60)}
    lengths |= set(range(4096, len(content), 4096 * 3))
    for length in sorted(lengths):
        cut = tmp_path / f"cut-{length}.rlprof"
        cut.write_bytes(content[:length])
        assert read_or_refuse(cut) or length < len(content)
    assert read_or_refuse(tmp_path / f"cut-{len(content)}.rlprof")


def flip_bits(content: bytes, chooser: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(chooser.choice([1, 1, 1, 4, 32])):
        damaged[chooser.randrange(len(damaged))] ^= 1 << chooser.randrange(8)
    return bytes(damaged)


def flip_many(whole: Path, folder: Path, times: int, seed: int) -> None:
    chooser = random.Random(seed)
    content = whole.read_bytes()
    path = folder / "flipped.rlprof"
    for number in range(times):
        path.write_bytes(damaged := flip_bits(content, chooser))
        try:
            read_or_refuse(path)
        except AssertionError:
            (folder / f"flipped-{seed}-{number}.rlprof").write_bytes(damaged)  # to look at
            raise


def test_a_recording_with_bits_flipped_anywhere(whole: Path, tmp_path: Path) -> None:
    flip_many(whole, tmp_path, 150, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_recording_with_bits_flipped_anywhere_a_thousand_times(whole: Path, tmp_path: Path, seed: int) -> None:
    flip_many(whole, tmp_path, 1000, seed=100 + seed)


def test_the_memory_of_a_reader_is_bounded_whatever_a_file_claims(copy: Path) -> None:
    """Zeros pack a thousandfold: a small file must not become gigabytes."""
    rows = 4_000_000
    bomb = zlib.compress(bytes(rows * 100), 9)

    def plant(recording: sqlite3.Connection) -> None:
        kinds = [kind for (kind,) in recording.execute("SELECT DISTINCT kind FROM chunks")]
        for kind in kinds:
            recording.executemany(
                "INSERT INTO chunks (process, kind, rows, data) VALUES (1, ?, ?, ?)", [(kind, rows, bomb)] * 40
            )

    change(copy, plant)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    done = run([*RLPROF, "report", str(copy), "--json", "-"], copy.parent, preexec=limit)
    assert done.code in (0, 2), done.err
    assert "MemoryError" not in done.err
    assert "Traceback" not in done.err
