"""What `rlprof export` writes is opened by the viewers it is for, and says what the recording says."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.trace_processor import TraceProcessor
from rlprof.analyse.timeline import Nested, _nest
from rlprof.render.chrome_trace import chrome_trace
from support.programs import Json, run_recorded, write_program
from support.recordings import a_recording, span

HOSTILE = '</script><script>alert(1)</script>\x1b[31m"\\ \ud800 =cmd()'

PROGRAM = f"""
    import multiprocessing, time
    from rlprof import count, iteration, profile

    def worker():
        for _ in range(30):
            with profile("simulate", phase="env.step"):
                time.sleep(0.01)

    if __name__ == "__main__":
        child = multiprocessing.get_context("fork").Process(target=worker)
        child.start()
        for turn in range(8):
            iteration()
            with profile("collect"):
                for _ in range(5):
                    with profile("env.step", phase="env.step"):
                        sum(range(40_000))
                    count("env_steps", 4)
                count("episode_return", 7.0)
            with profile({HOSTILE!r}, phase="learn.loss"):
                time.sleep(0.1 if turn == 5 else 0.02)
        child.join()
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    done = run_recorded(write_program(folder, PROGRAM), options=["--schedule", "wait=1,warmup=0,active=2,repeat=1"])
    assert done.code == 0, done.err
    return done.target


def export(recording: Path, form: str, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "rlprof", "export", str(recording), "--to", form, *options]
    return subprocess.run(command, capture_output=True, check=False, timeout=100)


def exported(recording: Path, form: str) -> str:
    done = export(recording, form, "--out", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8")


def test_perfetto_opens_the_trace_without_a_complaint(recording: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.trace.json"
    assert export(recording, "chrome", "--out", str(file)).returncode == 0
    with TraceProcessor(file) as viewer:
        assert viewer.complaints() == []
        tracks = viewer.sql(
            "select process.name p, thread.name t, count(*) n from slice join thread_track on slice.track_id ="
            " thread_track.id join thread using (utid) join process using (upid) group by 1, 2"
        )
        counts = {(row["p"].split()[0], row["t"]): row["n"] for row in tracks}
        assert counts["main", "iterations"] >= 7
        assert counts["main", "MainThread"] >= 2 * 7  # two iterations in full, and the slowest
        assert any(process == "fork" for process, _ in counts)
        wrong = viewer.sql("select count(*) n from slice where dur < 0")
        assert wrong == [{"n": 0}]
        counters = {row["name"] for row in viewer.sql("select distinct name from counter_track")}
        assert {"env_steps/s value", "episode_return, mean value"} <= counters
        means = viewer.sql(
            "select min(value) low, max(value) high from counter join counter_track on counter.track_id ="
            " counter_track.id where name = 'episode_return, mean value'"
        )
        assert means == [{"low": 7.0, "high": 7.0}]


def test_a_rate_ends_where_its_counter_stops_growing() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=5.0))
    builder.counter_slices("env_steps", [(0.0, 1.0, 100), (1.0, 2.0, 50), (6.0, 7.0, 10)])
    events = json.loads("".join(chrome_trace(builder.build())))["traceEvents"]
    rates = [(event["ts"] / 1e6, event["args"]["value"]) for event in events if event["name"] == "env_steps/s"]
    assert rates == [(0.0, 100.0), (1.0, 50.0), (2.0, 0.0), (6.0, 10.0), (7.0, 0.0)]


def test_processes_of_a_trace_are_on_one_clock(recording: Path) -> None:
    events = json.loads(exported(recording, "chrome"))["traceEvents"]
    assert all(type(event["pid"]) is int and type(event["tid"]) is int for event in events)
    starts: dict[int, float] = {}
    for event in events:
        if event["ph"] == "X":
            starts[event["pid"]] = min(starts.get(event["pid"], 1e18), event["ts"])
    main, child = sorted(starts)
    assert 0 <= starts[child] - starts[main] < 30e6  # the child begins within the run, after the main process


def test_speedscope_gets_the_same_seconds_span_in_span(recording: Path) -> None:
    profile = json.loads(exported(recording, "speedscope"))
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    main = profile["profiles"][0]
    assert main["unit"] == "seconds"
    assert sum(main["weights"]) == pytest.approx(main["endValue"])
    assert all(0 <= frame < len(names) for stack in main["samples"] for frame in stack)
    of_steps = sum(
        weight
        for stack, weight in zip(main["samples"], main["weights"], strict=True)
        if "env.step" in [names[frame] for frame in stack]
    )
    report = read_json(recording)
    measured = sum(o["self_seconds"] for o in report["operations"] if o["path"][-1] == "env.step" and o["process"] == 1)
    assert of_steps == pytest.approx(measured, rel=1e-6)


def read_json(recording: Path) -> Json:
    done = subprocess.run(
        [sys.executable, "-m", "rlprof", "report", str(recording), "--json", "-"], capture_output=True, check=True
    )
    found: Json = json.loads(done.stdout)
    return found


def test_csv_rows_add_up_to_the_totals_and_no_name_is_a_formula(recording: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(recording, "csv"), newline="")))
    steps = [row for row in rows if row["path"].endswith("collect / env.step") and row["role"] == "main"]
    assert sum(int(row["calls"]) for row in steps) == 40
    assert {row["phase"] for row in steps} == {"env.step"}
    assert not any(row["path"].startswith(("=", "+", "-", "@")) for row in rows)
    assert all(float(row["start_s"]) < float(row["end_s"]) for row in rows)


def test_tensorboard_reads_the_scalars_over_env_steps(recording: Path, tmp_path: Path) -> None:
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "board"
    assert export(recording, "tensorboard", "--out", str(folder)).returncode == 0
    board = loading.EventAccumulator(str(folder))
    board.Reload()
    tags = board.Tags()["scalars"]
    assert {"rlprof/share/env.step", "rlprof/env_steps_per_second"} <= set(tags)
    steps = [event.step for event in board.Scalars("rlprof/env_steps_per_second")]
    assert steps == sorted(steps)
    assert steps[-1] == 8 * 5 * 4


def test_parquet_holds_the_same_rows_or_says_what_it_needs(recording: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.parquet"
    done = export(recording, "parquet", "--out", str(file))
    if done.returncode:
        assert (done.returncode, b"pip install pyarrow" in done.stderr, file.exists()) == (2, True, False)
        return
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(file).num_rows
    assert rows == len(exported(recording, "csv").splitlines()) - 1


def test_what_cannot_be_written_is_said_in_one_line(recording: Path, tmp_path: Path) -> None:
    wrong = export(recording, "chrome", "--out", str(tmp_path / "no" / "such" / "folder.json"))
    assert (wrong.returncode, wrong.stderr.count(b"\n")) == (2, 1)
    itself = export(recording, "csv", "--out", str(recording))
    assert itself.returncode == 2
    assert export(recording, "tensorboard", "--out", "-").returncode == 2


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), max_size=30))
def test_spans_on_a_time_line_end_before_those_around_them(drawn: list[tuple[int, int]]) -> None:
    spans = sorted((Nested(0, start, length) for start, length in drawn), key=lambda s: (s.start_ns, -s.duration_ns))
    open_until: list[int] = []
    for one in _nest(spans):
        while open_until and open_until[-1] <= one.start_ns:
            open_until.pop()
        end = one.start_ns + one.duration_ns
        assert one.duration_ns >= 0
        assert not open_until or end <= open_until[-1]
        open_until.append(end)
