"""Windows: torch.profiler and cProfile look on for some iterations, and those are kept apart."""

from __future__ import annotations

import gzip
import json
import pstats
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from clients.trace_processor import TraceProcessor
from rlprof.recording import open_recording
from rlprof.recording.importers.files import parse_json
from rlprof.recording.importers.operators import Operators, Track
from rlprof.recording.importers.torch_trace import timed_events
from rlprof.render.json import report_schema
from support.installed import need
from support.programs import (
    RLPROF,
    Json,
    Outcome,
    assert_ledgers_close,
    phases,
    read_report,
    run,
    run_bare,
    run_recorded,
    warning_codes,
    write_program,
)

need("torch", "gymnasium")

PLAIN = Path(__file__).parent / "programs" / "plain_ppo.py"
TURNS = 240  # enough that the run goes on behind the window of cProfile, which lasts for a second at least
TRACES = Path(__file__).resolve().parents[3] / "shared" / "gpu_traces"

#: plain_ppo with a profiler of its own, from turn 4 to turn 7.
PROFILES_ITSELF = """
import sys
import plain_ppo
{profiler}
mine = None
def before_turn(turn):
    global mine
    if turn == 4:
        mine = {make}
        mine.{start}()
    if turn == 7:
        mine.{stop}()
        print("seen", len({seen}) > 5)
plain_ppo.before_turn = before_turn
plain_ppo.main(int(sys.argv[1]))
"""


def copied(folder: Path) -> Path:
    return Path(shutil.copy(PLAIN, folder / "program.py"))


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run with two windows of torch.profiler, then one of cProfile."""
    options = ("--torch-trace", "wait=1,warmup=1,active=3,repeat=2,record_shapes", "--detailed")
    done = run_recorded(copied(tmp_path_factory.mktemp("windows")), str(TURNS), options=options)
    assert done.code == 0, done.err
    return done


def operators(report: Json, phase: str) -> dict[str, Json]:
    return next(({o["name"]: o for o in p["operators"]} for p in report["operators"] if p["phase"] == phase), {})


def test_a_program_learns_the_same_with_windows_and_without(windowed: Outcome) -> None:
    assert run_bare(PLAIN, str(TURNS)).out == windowed.out
    assert len(windowed.out.splitlines()) == TURNS


def test_windows_are_listed_and_in_no_other_figure(windowed: Outcome) -> None:
    report = windowed.report()
    jsonschema.validate(report, report_schema())
    assert_ledgers_close(report)
    found = [(window["tool"], window["iterations"], window["warmup"]) for window in report["windows"]]
    assert found[:2] == [("torch.profiler", 4, 1)] * 2
    assert found[2][0] == "cProfile"
    assert all(window["apart"] for window in report["windows"])
    apart = sum(window["iterations"] for window in report["windows"])
    assert (
        report["throughput"]["iterations"] == TURNS - 2 - apart
    )  # before its first turn and after its last it has none
    assert report["throughput"]["env_steps"] == pytest.approx(100 * (TURNS - apart))
    recorded = (open_recording(windowed.target).main.recorded_ns) / 1e9
    kept_apart = sum(window["seconds"] for window in report["windows"])
    assert report["run"]["wall_seconds"] == pytest.approx(recorded - kept_apart, abs=0.05)
    assert report["ledger"]["overhead_error_seconds"] < 0.5 * report["run"]["wall_seconds"]


def test_operators_are_in_the_phase_that_was_open(windowed: Outcome) -> None:
    report = windowed.report()
    traced = 2 * 3  # windows of three iterations
    assert operators(report, "policy.forward")["aten::addmm"]["calls"] == 2 * 100 * traced
    assert operators(report, "learn.loss")["aten::addmm"]["calls"] == 2 * 5 * traced
    assert "aten::mm" in operators(report, "learn.backward")
    assert any("Backward0" in name for name in operators(report, "learn.backward"))
    assert not any("Backward0" in name for name in operators(report, "policy.forward"))
    assert any("add" in name for name in operators(report, "learn.optimizer"))
    for entry in report["operators"]:
        listed = sum(operator["self_seconds"] for operator in entry["operators"])
        assert listed + entry["other_seconds"] == pytest.approx(entry["seconds"])
    assert sum(entry["share"] for entry in report["operators"]) == pytest.approx(1.0)
    assert report["device"] is None


def test_reports_show_windows_and_operators(windowed: Outcome) -> None:
    for form in ("--text", "--markdown"):
        shown = run([*RLPROF, "report", str(windowed.target), form, "-"], windowed.target.parent).out
        assert "torch.profiler: 4 iterations (1 to warm up)" in shown
        assert "in no other figure" in shown
        assert "aten::addmm" in shown
        assert "program.torch-0.json.gz" in shown.replace("\\", "")


def test_the_traces_open_in_perfetto(windowed: Outcome) -> None:
    for number in range(2):
        file = windowed.target.with_name(f"program.torch-{number}.json.gz")
        assert file.stat().st_mode & 0o077 == 0
        plain = file.with_suffix("")
        plain.write_bytes(gzip.decompress(file.read_bytes()))
        with TraceProcessor(plain) as trace:
            assert trace.complaints() == []
            steps = trace.sql("select count(*) as n from slice where name glob 'ProfilerStep#*'")
            forwards = trace.sql("select count(*) as n from slice where name = 'aten::linear'")
        assert steps[0]["n"] == 3
        assert forwards[0]["n"] == 3 * 2 * (100 + 5)


def test_a_trace_of_a_run_can_be_imported_by_itself(windowed: Outcome, tmp_path: Path) -> None:
    trace = windowed.target.with_name("program.torch-0.json.gz")
    done = run([*RLPROF, "import", str(trace), "--out", str(tmp_path / "made.rlprof")], tmp_path)
    assert done.code == 0, done.err
    assert read_report(tmp_path / "made.rlprof")["throughput"]["iterations"] == 3


def test_the_detailed_profile_is_what_pstats_reads_and_a_text(windowed: Outcome) -> None:
    stats: Any = pstats.Stats(str(windowed.target.with_suffix(".prof")))
    step = next(found for (file, _, name), found in stats.stats.items() if name == "step" and "cartpole" in file)
    window = windowed.report()["windows"][-1]
    assert step[0] == 100 * window["iterations"]
    text = windowed.target.with_name("program.detailed.txt").read_text(encoding="utf-8")
    assert f"cProfile looked on for {window['iterations']} iterations" in text
    assert "List reduced from" in text
    assert "was called by..." in text


def test_snakeviz_shows_the_detailed_profile(windowed: Outcome) -> None:
    pytest.importorskip("snakeviz")
    profile = windowed.target.with_suffix(".prof")
    command = [sys.executable, "-m", "snakeviz", "--server", "--port", "0", str(profile)]
    port = free_port()
    command[command.index("0")] = str(port)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = read_page(f"http://127.0.0.1:{port}/snakeviz/{profile.as_posix().replace('/', '%2F')}")
    finally:
        server.kill()
        server.wait()
    assert "cartpole.py" in page


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read_page(address: str) -> str:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return str(answer.read().decode())
        except (ConnectionError, urllib.error.URLError):
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def test_a_profile_of_each_phase_holds_its_calls(tmp_path: Path) -> None:
    turns = "60"  # the run goes on behind the window: it would end in the middle of a turn otherwise
    done = run_recorded(copied(tmp_path), turns, options=("--detailed-by-phase",))
    assert done.code == 0, done.err
    window = done.report()["windows"][0]
    forward: Any = pstats.Stats(str(tmp_path / "program.policy.forward.prof"))
    linear = next(found for (file, _, name), found in forward.stats.items() if name == "forward" and "linear" in file)
    assert linear[0] == 2 * 100 * window["iterations"]
    backward: Any = pstats.Stats(str(tmp_path / "program.learn.backward.prof"))
    assert not any("cartpole" in file for file, _, _ in backward.stats)
    assert all(own <= whole + 1e-9 for _, _, own, whole, _ in backward.stats.values())
    text = (tmp_path / "program.learn.backward.detailed.txt").read_text(encoding="utf-8")
    assert "Calls that began in the phase learn.backward" in text
    assert len(done.out.splitlines()) == int(turns)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (
            ("--torch-trace", "wait=1,warmup=0,active=20"),
            {"profiler": "from torch.profiler import profile", "make": "profile()", "start": "start", "stop": "stop",
             "seen": "mine.key_averages()"},
        ),
        (
            ("--detailed",),
            {"profiler": "from cProfile import Profile", "make": "Profile()", "start": "enable", "stop": "disable",
             "seen": "mine.getstats()"},
        ),
    ],
    ids=["torch.profiler", "cProfile"],
)  # fmt: skip
def test_a_program_that_profiles_itself_is_left_alone(
    option: tuple[str, ...], words: dict[str, str], tmp_path: Path
) -> None:
    shutil.copy(PLAIN, tmp_path)
    program = write_program(tmp_path, PROFILES_ITSELF.format(**words))
    done = run_recorded(program, "10", options=option)
    assert done.code == 0, done.err
    assert "seen True" in done.out
    said = [line for line in done.own_lines if "itself" in line]
    assert len(said) == 1
    assert not list(tmp_path.glob("*.json.gz")) + list(tmp_path.glob("*.prof"))
    assert len({"torch-trace", "detailed"} & warning_codes(done.report())) == 1


def test_without_torch_and_without_iterations_it_says_so_and_gives_what_there_is(tmp_path: Path) -> None:
    program = write_program(tmp_path, "sum(i * i for i in range(3_000_000))\nprint('done')")
    done = run_recorded(program, options=("--torch-trace", "active=1", "--detailed"))
    assert (done.code, done.out) == (0, "done\n")
    assert sum("no torch was imported: no trace" in line for line in done.own_lines) == 1
    text = (tmp_path / "program.detailed.txt").read_text(encoding="utf-8")
    assert "stack samples" in text
    assert "<module>" in text


@pytest.mark.slow
def test_a_program_too_short_for_a_trace_is_told_when_it_would_have_begun(tmp_path: Path) -> None:
    done = run_recorded(copied(tmp_path), "3", options=("--torch-trace", "wait=5,warmup=1,active=1"))
    assert done.code == 0
    assert "would have begun in iteration 7" in done.err
    assert done.report()["windows"] == []


@pytest.mark.slow
def test_a_window_that_the_programs_end_cuts_short_is_kept(tmp_path: Path) -> None:
    done = run_recorded(copied(tmp_path), "4", options=("--torch-trace", "wait=0,warmup=1,active=20"))
    assert done.code == 0, done.err
    assert (tmp_path / "program.torch-0.json.gz").exists()
    assert operators(done.report(), "policy.forward")["aten::addmm"]["calls"] >= 2 * 100


def test_turns_that_a_program_marks_itself_open_windows(tmp_path: Path) -> None:
    program = write_program(
        tmp_path,
        """
        import torch
        from rlprof import iteration, profile
        for _ in range(6):
            iteration()
            with profile("act", phase="policy.forward"):
                torch.ones(3, 3) @ torch.ones(3, 3)
            with profile("learn", phase="learn.loss"):
                torch.ones(3).relu()
        """,
    )
    done = run_recorded(program, options=("--torch-trace", "wait=1,warmup=1,active=2"))
    report = done.report()
    assert operators(report, "policy.forward")["aten::matmul"]["calls"] == 2
    assert operators(report, "learn.loss")["aten::relu"]["calls"] == 2
    assert "aten::relu" not in operators(report, "policy.forward")


@pytest.mark.parametrize(
    "options",
    [
        ("--torch-trace", "wait=1,nonsense"),
        ("--torch-trace", "active=0"),
        ("--torch-trace", "wait=-1"),
        ("--torch-trace", "active=1", "--schedule", "active=1"),
        ("--torch-trace", "active=1,repeat=0", "--detailed"),
    ],
    ids=" ".join,
)
def test_what_does_not_fit_is_refused_in_one_line(options: tuple[str, ...], tmp_path: Path) -> None:
    done = run_recorded(write_program(tmp_path, "print('never')"), options=options)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_profile_of_another_tool_is_not_replaced(tmp_path: Path) -> None:
    program = write_program(tmp_path, "print('done')")
    (tmp_path / "program.prof").write_bytes(b"mine")
    refused = run_recorded(program, options=("--detailed",))
    assert (refused.code, refused.out) == (2, "")
    assert (tmp_path / "program.prof").read_bytes() == b"mine"


@pytest.mark.slow
def test_a_trace_that_cannot_be_read_costs_its_figures_and_is_said(tmp_path: Path) -> None:
    shutil.copy(PLAIN, tmp_path)
    program = write_program(
        tmp_path,
        """
        import atexit, sys
        import plain_ppo
        from pathlib import Path
        atexit.register(lambda: Path("program.torch-0.json.gz").write_bytes(b"gone"))
        plain_ppo.main(int(sys.argv[1]))
        """,
    )
    done = run_recorded(program, "6", options=("--torch-trace", "wait=0,warmup=0,active=1"))
    assert done.code == 0, done.err
    assert "torch-trace" in warning_codes(done.report())


@pytest.mark.parametrize("trace", sorted(TRACES.glob("*.json.gz")), ids=lambda file: file.name.partition(".")[0])
def test_device_time_goes_to_the_operator_that_launched_it(trace: Path) -> None:
    events = list(timed_events(parse_json(trace)))
    sums = Operators()
    sums.add(events, Track([], None), [(0, 0)])
    rows = sums.rows(10**9)
    on_device = sum(d for event, _, d in events if str(event.get("cat")).lower() in {"kernel", "gpu_memcpy", "memcpy"})
    launched = sum(row[5] for row in rows)
    assert 0 < launched <= on_device + sum(d for e, _, d in events if "set" in str(e.get("cat")).lower())
    assert all(row[3] >= 0 for row in rows)


def test_json_of_a_report_without_windows_has_none(tmp_path: Path) -> None:
    done = run_recorded(write_program(tmp_path, "print('done')"))
    report = done.report()
    assert (report["windows"], report["operators"]) == ([], None)
    assert phases(report) == {}
    assert json.dumps(report)
