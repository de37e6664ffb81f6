"""What a run leaves behind: a report that fits its schema, samples, events, memory, summaries."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from rlprof.model.recording import Recording
from rlprof.recording import open_recording
from support.programs import (
    RLPROF,
    Json,
    Outcome,
    assert_ledgers_close,
    calls,
    operation,
    operations,
    processes,
    run,
    run_recorded,
    warning_codes,
    write_program,
)

pytestmark = pytest.mark.timed

ITERATIONS = 12
SLOW = 7
TRAINS = f"""
    import time, threading
    from multiprocessing import get_context

    import rlprof


    def spin_here(seconds):
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            sum(range(200))  # hot line


    def remember():
        with rlprof.profile("outer", track_memory=True):
            with rlprof.profile("brief", track_memory=True):
                block = bytearray(200_000_000)
                block[::4096] = b"x" * len(block[::4096])
                del block
            with rlprof.profile("small", track_memory=True):
                block = bytearray(20_000_000)
                block[::4096] = b"x" * len(block[::4096])
        del block


    def worker():
        for _ in range(5):
            with rlprof.profile("env.step"):
                time.sleep(0.01)
            rlprof.count("env_steps", 2)


    def prefetch():
        worker()
        time.sleep(0.6)  # until the writer has seen it


    if __name__ == "__main__":
        remember()
        child = get_context("fork").Process(target=worker)
        child.start()
        thread = threading.Thread(target=prefetch, name="prefetch")
        thread.start()
        for index in range({ITERATIONS}):
            rlprof.iteration()
            with rlprof.profile("rollout"):
                with rlprof.profile("step", phase="env.step"):
                    spin_here(0.05)
                rlprof.count("env_steps", 64)
                rlprof.count("episodes")
            with rlprof.profile("learn", phase="learn.backward"):
                time.sleep(0.2 if index == {SLOW} else 0.01)
            rlprof.count("updates")
        child.join()
        thread.join()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_program(tmp_path_factory.mktemp("run"), TRAINS)


@pytest.fixture(scope="module")
def outcome(program: Path) -> Outcome:
    done = run_recorded(program, options=["--schedule", "wait=2,warmup=1,active=2,repeat=2"])
    assert done.code == 0, done.err
    return done


@pytest.fixture(scope="module")
def recording(outcome: Outcome) -> Recording:
    return open_recording(outcome.target)


@pytest.fixture(scope="module")
def report(outcome: Outcome) -> Json:
    done = run([*RLPROF, "report", str(outcome.target), "--json", "-"], outcome.target.parent)
    assert done.code == 0, done.err
    found: Json = json.loads(done.out)
    return found


def test_the_report_fits_its_schema(report: Json) -> None:
    schema = json.loads((resources.files("rlprof.render") / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)


def test_the_ledger_closes_to_a_thousandth_for_every_process(report: Json) -> None:
    assert len(processes(report)) == 2
    assert_ledgers_close(report)


def test_throughput_adds_up_what_was_counted(report: Json) -> None:
    throughput = report["throughput"]
    # Where the trainer counts, its worker's figure is of the same steps; its thread's is its own.
    assert throughput["env_steps"] == 64 * ITERATIONS + 10
    assert throughput["episodes"] == throughput["updates"] == ITERATIONS
    assert sum(window["sps"] for window in throughput["windows"]) > 0


def test_spans_are_counted_exactly_and_timed_truly(report: Json) -> None:
    step = operation(report, "step")
    assert step["calls"] == ITERATIONS
    assert step["path"] == ["iteration", "rollout", "step"]
    assert step["total_seconds"] == pytest.approx(0.05 * ITERATIONS, rel=0.25)
    assert operation(report, "learn")["max_seconds"] == pytest.approx(0.2, rel=0.25)


def test_threads_have_spans_of_their_own(report: Json) -> None:
    (main,) = processes(report, "main")
    threads = {
        step["thread"]: step["calls"] for step in operations(report, "env.step") if step["process"] == main["id"]
    }
    assert threads == {"prefetch": 5}


def test_nothing_was_lost(recording: Recording, report: Json) -> None:
    assert not any(report["losses"].values()), report["losses"]
    assert "losses" not in warning_codes(report)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_a_tracked_span_knows_its_exact_peak_though_the_memory_was_freed_inside(report: Json) -> None:
    brief = operation(report, "brief")
    assert brief["memory_exact"]
    assert brief["memory_peak_mb"] == pytest.approx(200, rel=0.05)


def test_a_tracked_span_sees_the_peaks_of_those_inside_it_and_not_those_before(report: Json) -> None:
    assert operation(report, "outer")["memory_peak_mb"] == pytest.approx(200, rel=0.05)
    assert operation(report, "small")["memory_peak_mb"] == pytest.approx(20, rel=0.15)


def test_resident_memory_is_sampled(report: Json) -> None:
    assert report["memory"]["rss_peak_mb"] > 10


# --- samples ----------------------------------------------------------------------------------------------------------


def test_samples_name_the_function_and_line_that_ran(program: Path, recording: Recording) -> None:
    line = 1 + next(i for i, text in enumerate(program.read_text().splitlines()) if "# hot line" in text)
    main = recording.main
    step = next(path.id for path in main.paths.values() if path.name == "step")
    samples = main.samples
    seen: dict[tuple[str, str], int] = {}
    for path, frame, count in zip(samples.path, samples.frame, samples.count, strict=True):
        if path == step:
            place = samples.frames[int(frame)]
            seen[place.function, place.file] = seen.get((place.function, place.file), 0) + int(count)
    inside = {frame.line for frame in samples.frames.values() if frame.function == "spin_here"}
    assert sum(seen.values()) >= 0.3 * 97 * 0.05 * ITERATIONS
    assert seen["spin_here", str(program)] >= 0.8 * sum(seen.values())
    assert line in inside
    assert inside <= {line - 2, line - 1, line}


def test_samples_fall_on_the_path_that_was_open(recording: Recording) -> None:
    main = recording.main
    names = {path.id: path.name for path in main.paths.values()}
    samples = main.samples
    wrong = 0
    for path, frame, count in zip(samples.path, samples.frame, samples.count, strict=True):
        if samples.frames[int(frame)].function == "spin_here" and names[int(path)] != "step":
            wrong += int(count)
    assert wrong <= 0.05 * samples.count.sum()


def test_without_sampler_and_memory_there_are_neither(program: Path) -> None:
    target = program.with_name("bare.rlprof")
    options = ["--sampler-hz", "0", "--no-memory", "--out", str(target)]
    done = run_recorded(program, options=options)
    assert done.code == 0, done.err
    main = open_recording(target).main
    assert len(main.samples.count) == 0
    assert len(main.memory.rss_bytes) == 0
    assert {stats.rss_rise_bytes for stats in main.stats.values()} == {None}
    assert any(path.name == "brief" for path in main.paths.values())


# --- events -----------------------------------------------------------------------------------------------------------


def test_the_schedule_logs_every_span_in_exactly_its_active_iterations(recording: Recording) -> None:
    main = recording.main
    names = {path.id: path.name for path in main.paths.values()}
    turns = [
        (int(start), int(start + lasted))
        for start, lasted in zip(main.iterations.start_ns, main.iterations.duration_ns, strict=True)
    ]
    turns.append((turns[-1][1], main.end_ns))
    logged: dict[int, list[str]] = {}
    for path, start in zip(main.events.path, main.events.start_ns, strict=True):
        inside = next(number for number, (first, last) in enumerate(turns) if first <= start < last)
        logged.setdefault(inside, []).append(names[int(path)])
    # wait 2, warm up 1, log 2, twice.
    assert {turn: sorted(events) for turn, events in logged.items()} == {
        turn: ["iteration", "learn", "rollout", "step"] for turn in (3, 4, 8, 9)
    }


def test_the_flight_recorder_keeps_the_slowest_iteration_in_detail(recording: Recording) -> None:
    slowest = recording.main.slow_iterations[0]
    assert slowest.index == SLOW
    assert slowest.duration_ns > 0.2e9
    names = {path.id: path.name for path in recording.main.paths.values()}
    durations = {names[int(p)]: int(d) for p, d in zip(slowest.events.path, slowest.events.duration_ns, strict=True)}
    assert durations["learn"] > 0.2e9
    assert set(durations) == {"iteration", "rollout", "step", "learn"}


# --- summaries --------------------------------------------------------------------------------------------------------

COUNTS = """
    import time, rlprof

    for _ in range(24):
        with rlprof.profile("env.step"):
            time.sleep(0.1)
        rlprof.count("env_steps", 10)
    print("done")
"""


@pytest.mark.parametrize(("option", "least"), [(["--summary-every", "80"], 2), (["--summary-seconds", "1"], 1)])
def test_summaries_are_printed_while_the_program_runs(tmp_path: Path, option: list[str], least: int) -> None:
    done = run_recorded(write_program(tmp_path, COUNTS), options=option)
    assert done.out == "done\n"
    steps = [float(found) for found in re.findall(r"^rlprof .* ([\d.]+) env steps", done.err, re.MULTILINE)]
    assert least <= len(steps) <= 3, done.err
    assert steps == sorted(steps)
    assert 0 < steps[0] < steps[-1] <= 240 or len(steps) == 1
    assert len(re.findall(r"^  env.step +\d", done.err, re.MULTILINE)) == len(steps)


def test_the_report_of_a_run_goes_to_stderr_and_names_the_recording(tmp_path: Path) -> None:
    script = write_program(tmp_path, "import rlprof\nwith rlprof.profile('work'): print('mine')")
    done = run([*RLPROF, "run", "--out", "named.rlprof", str(script)], tmp_path)
    assert done.out == "mine\n"
    assert "Where the time went" in done.err
    assert "named.rlprof" in done.err
    assert calls(json.loads(run([*RLPROF, "report", "named", "--json", "-"], tmp_path).out), "work") == 1
