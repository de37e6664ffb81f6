"""Files of other profilers become recordings that say the same; damaged ones are refused in one line."""

from __future__ import annotations

import cProfile
import gzip
import json
import pstats
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.recording.importers.device import device_summary, union_ns
from rlprof.recording.importers.files import read_foreign
from rlprof.recording.importers.marshalled import Unreadable, loads
from support.programs import Json, assert_ledgers_close, read_report

SHARED = Path(__file__).resolve().parents[3] / "shared"
TRACES = SHARED / "gpu_traces"
TIMERS = SHARED / "rl_data"


def imported(file: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rlprof", "import", str(file), "--out", str(folder / "made.rlprof")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def report_of(file: Path, folder: Path) -> Json:
    done = imported(file, folder)
    assert done.returncode == 0, done.stderr
    report = read_report(folder / "made.rlprof")
    assert_ledgers_close(report)
    return report


def references() -> list[dict[str, Any]]:
    manifest = TRACES / "manifest.json"
    return json.loads(manifest.read_text(encoding="utf-8"))["traces"] if manifest.is_file() else []


@pytest.mark.parametrize("trace", references(), ids=lambda trace: str(trace["file"]).partition(".")[0])
def test_a_real_device_trace_gives_the_figures_of_an_independent_reading(trace: dict[str, Any], tmp_path: Path) -> None:
    report = report_of(TRACES / trace["file"], tmp_path)
    device, wanted = report["device"], trace["reference"]

    def same(found: float, micros: float) -> None:
        assert found == pytest.approx(micros / 1e6, rel=0.01, abs=1e-9)

    assert report["run"]["wall_seconds"] == pytest.approx(wanted["trace_span_us"] / 1e6, rel=0.01)
    same(device["span_seconds"], wanted["gpu_span_us"])
    same(device["busy_seconds"], wanted["gpu_busy_us"])
    same(device["idle_seconds"], wanted["gpu_idle_us"])
    assert 100 * device["idle_share"] == pytest.approx(wanted["gpu_idle_pct_of_gpu_span"], abs=0.01)
    assert (device["kernels"]["count"], device["launches"]) == (wanted["kernel_count"], wanted["launches"])
    for direction, copies in wanted["memcpy"].items():
        found = device["memcpy"][direction]
        assert (found["count"], found["bytes"]) == (copies["count"], copies["bytes"])
        same(found["seconds"], copies["time_us"])
    assert {name: found["count"] for name, found in device["syncs"].items()} == {
        name: found["count"] for name, found in wanted["sync_calls"].items()
    }
    for name, found in wanted["sync_calls"].items():
        same(device["syncs"][name]["seconds"], found["time_us"])
    assert (report["throughput"]["iterations"] or 0) == wanted["profiler_steps"]
    longest = [kernel["name"][:100] for kernel in device["top_kernels"][:3]]
    assert longest == [kernel["name"][:100] for kernel in wanted["top_kernels"]]


@pytest.mark.parametrize("file", sorted(TIMERS.glob("*.timers.json")), ids=lambda file: file.name.partition(".")[0])
def test_timers_of_ml_agents_keep_their_totals_in_every_form(file: Path, tmp_path: Path) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    report = report_of(file, tmp_path)
    assert report["run"]["wall_seconds"] == pytest.approx(document["total"], rel=1e-6)
    children = document["children"]
    names = children if isinstance(children, dict) else [child["name"] for child in children]
    tops = {operation["path"][0]: operation for operation in report["operations"] if len(operation["path"]) == 1}
    assert set(names) <= set(tops)
    assert not any(operation["total_seconds"] < 0 for operation in report["operations"])


def test_a_file_of_cprofile_keeps_calls_and_own_times(tmp_path: Path) -> None:
    profile = cProfile.Profile()
    profile.runcall(lambda: [sum(range(number)) for number in range(300)])
    file = tmp_path / "train.prof"
    profile.dump_stats(file)
    report = report_of(file, tmp_path)
    stats: Any = pstats.Stats(str(file))
    found = {operation["path"][0]: operation for operation in report["operations"]}
    summed = next(operation for name, operation in found.items() if "sum" in name)
    assert summed["calls"] == 300
    assert report["run"]["wall_seconds"] == pytest.approx(stats.total_tt, abs=1e-6)


WRONG = {
    "nothing": b"",
    "text": b"hello",
    "another document": b'{"a": 1}',
    "cut short": b'{"traceEvents": [{"ph": "X", "ts": 1, "du',
    "no event": b'{"traceEvents": []}',
    "events of nonsense": json.dumps({"traceEvents": [1, None, {"ph": "X", "ts": "x", "dur": {}}]}).encode(),
    "endless times": b'{"traceEvents": [{"ph": "X", "ts": NaN, "dur": Infinity, "name": "a"}]}',
    "deep": b"[" * 100_000,
    "half a zip": gzip.compress(b'{"traceEvents": []}' * 50)[:40],
    "a marshalled bomb": b"(\xff\xff\xff\x7f" * 10,
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_read_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "foreign"
    file.write_bytes(content)
    done = imported(file, tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert not (tmp_path / "made.rlprof").exists()


def test_a_recording_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    event = {"ph": "X", "ts": 10.5, "dur": 5, "pid": "host", "tid": 1, "name": "aten::item", "cat": "cpu_op"}
    file.write_text(json.dumps({"traceEvents": [event]}))
    assert imported(file, tmp_path).returncode == 0
    again = imported(file, tmp_path)
    assert (again.returncode, "already" in again.stderr) == (2, True)


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_values_or_are_refused(raw: bytes) -> None:
    try:
        loads(raw)
    except Unreadable:
        return


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 50)), min_size=1, max_size=40))
def test_busy_time_is_what_at_least_one_activity_covers(drawn: list[tuple[int, int]]) -> None:
    covered = {moment for start, length in drawn for moment in range(start, start + length)}
    assert union_ns((start, start + length) for start, length in drawn) == len(covered)
    summary = device_summary((({"cat": "kernel", "name": "k"}, start, length) for start, length in drawn), 1000)
    assert summary is not None
    assert round((summary["busy_seconds"] + summary["idle_seconds"]) * 1e9) == round(summary["span_seconds"] * 1e9)


def test_reports_show_the_device_and_its_names_are_harmless(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\x1b[31m"
    file = tmp_path / "trace.json"
    events = [
        {"ph": "X", "ts": 0, "dur": 30, "pid": 0, "tid": 7, "name": hostile, "cat": "kernel"},
        {"ph": "X", "ts": 60, "dur": 10, "pid": 0, "tid": 7, "name": "Memcpy HtoD", "cat": "gpu_memcpy"},
        {"ph": "X", "ts": 0, "dur": 100, "pid": 1, "tid": 1, "name": "cudaStreamSynchronize", "cat": "cuda_runtime"},
    ]
    file.write_text(json.dumps(events))
    assert imported(file, tmp_path).returncode == 0
    for form in ("--text", "--markdown"):
        command = [sys.executable, "-m", "rlprof", "report", str(tmp_path / "made.rlprof"), form, "-"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "busy 40.0 µs (57.1%), idle 42.9% of 70.0 µs" in shown
        assert "1 cudaStreamSynchronize, 100 µs on the host" in shown
        assert "\x1b" not in shown
        assert form == "--text" or "<script>" not in shown


def test_overlapping_host_events_never_make_time(tmp_path: Path) -> None:
    spans = [(0, 100, "a"), (50, 100, "b"), (60, 200, "c"), (120, 5, "d")]
    events = [{"ph": "X", "ts": s, "dur": d, "pid": 1, "tid": 2, "name": n, "cat": "cpu_op"} for s, d, n in spans]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(events))
    _, top = read_foreign(file).threads[0]
    waiting, own = [top], 0
    while waiting:
        span = waiting.pop()
        assert span.self_ns >= 0
        own += span.self_ns
        waiting += span.children.values()
    assert own == 260_000  # the whole trace, in nanoseconds
