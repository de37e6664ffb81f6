"""A fault inside rlprof never reaches the program: it is said once, recorded where it can be, and that probe is off."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.programs import calls, processes, read_report, run_recorded, warning_codes, write_program

#: Breaks something in rlprof, then trains as if nothing had happened and says so.
TRAINS = """
    import os, sys, time, threading, types

    import rlprof
    from rlprof.record import background, flush, identity, memory
    from rlprof.recording import store


    def broken(*args, **kwargs):
        raise RuntimeError("a fault of rlprof's own")


    {breakage}

    for number in range(60):
        rlprof.iteration()
        with rlprof.profile("step", track_memory=number % 20 == 0):
            time.sleep(0.013)
        rlprof.count("env_steps")
        if number in (20, 40) and {forks}:
            child = os.fork()
            if child == 0:
                with rlprof.profile("child"):
                    pass
                sys.exit(0)
            os.waitpid(child, 0)
    print("trained")
"""


def train(folder: Path, breakage: str, *, forks: bool = False, expected: int = 0) -> tuple[list[str], Path]:
    done = run_recorded(write_program(folder, TRAINS.format(breakage=breakage, forks=forks)))
    assert done.code == expected, done.err
    assert done.out == "trained\n"
    assert "Traceback" not in done.err
    return [line for line in done.err.splitlines() if "recorded into" not in line], done.target


@pytest.mark.parametrize(
    "breakage",
    [
        "flush.Flusher.flush = broken",
        "flush.Flusher._drain = broken",
        "store.PartStore.write = broken",
        "rlprof._core.drain = broken",
    ],
)
def test_a_writer_that_fails_is_said_once_and_training_goes_on(tmp_path: Path, breakage: str) -> None:
    lines, target = train(tmp_path, breakage)
    assert len(lines) == 1, lines
    assert "a fault of rlprof's own" in lines[0]
    assert target.is_file()  # what was written before is there


def test_a_writer_that_fails_once_says_so_in_the_recording(tmp_path: Path) -> None:
    breakage = """
    whole, calls = flush.Flusher.flush, []

    def fails_once(self, *args):
        calls.append(1)
        if len(calls) == 1:
            broken()
        return whole(self, *args)

    flush.Flusher.flush = fails_once
    """
    script = write_program(tmp_path, TRAINS.format(breakage=breakage, forks=False))
    done = run_recorded(script)
    assert (done.code, done.out) == (0, "trained\n")
    assert len([line for line in done.own_lines if "recorded into" not in line]) == 1
    report = done.report()
    assert "writer-failed" in warning_codes(report)
    assert 20 < calls(report, "step") < 60


def test_a_sampler_that_fails_is_said_once_and_everything_else_is_recorded(tmp_path: Path) -> None:
    lines, target = train(tmp_path, "background.sys = types.SimpleNamespace(_current_frames=broken)", forks=True)
    report = read_report(target)
    assert len(lines) == 1, lines
    assert "sampling failed" in lines[0]
    assert "sampler-failed" in warning_codes(report)
    assert calls(report, "step") == 60
    assert report["throughput"]["env_steps"] == 60


@pytest.mark.parametrize("method", ["peak", "restart", "current"])
def test_a_memory_probe_that_fails_is_said_once_and_the_span_is_still_timed(tmp_path: Path, method: str) -> None:
    lines, target = train(tmp_path, f"memory.PeakReader.{method} = broken")
    report = read_report(target)
    assert len(lines) == 1, lines
    assert "memory-failed" in warning_codes(report)
    assert calls(report, "step") == 60


@pytest.mark.parametrize(
    "breakage",
    [
        "background.Background.stop = broken",
        "background.Background.start = broken",
        "identity.Identity.of_this_process = broken",
    ],
)
def test_a_fault_at_a_fork_leaves_parent_and_child_alone(tmp_path: Path, breakage: str) -> None:
    lines, _ = train(tmp_path, breakage, forks=True)
    assert lines
    assert max(map(lines.count, lines)) <= 3, lines  # once in each process that it concerns


def test_a_terminal_that_takes_no_complaints_is_no_reason_to_fail(tmp_path: Path) -> None:
    """A complaint may be due inside the program's own code, as with a phase that does not exist."""
    breakage = """
    class Deaf:
        def write(self, text):
            raise RuntimeError("nobody listens")

        def flush(self):
            pass

    sys.stderr = Deaf()
    with rlprof.profile("odd", phase="no such phase"):
        pass
    flush.Flusher.flush = broken
    """
    lines, _ = train(tmp_path, breakage)
    assert lines == []


def test_a_recording_that_cannot_begin_costs_only_the_recording(tmp_path: Path) -> None:
    """The directory is gone before the program starts: as early as anything can go wrong."""
    write_program(
        tmp_path,
        """
        import json, os, shutil
        session = os.environ.get("RLPROF_SESSION")
        if session:
            shutil.rmtree(json.loads(session)["target"] + ".parts", ignore_errors=True)
        """,
        "own/sitecustomize.py",
    )
    path = os.pathsep.join(filter(None, [str(tmp_path / "own"), os.environ.get("PYTHONPATH")]))
    done = run_recorded(write_program(tmp_path, "print('ran')\nraise SystemExit(3)"), PYTHONPATH=path)
    assert (done.code, done.out) == (3, "ran\n")
    assert "Traceback" not in done.err
    assert "Error in sitecustomize" not in done.err  # Python's own words, had it got out
    assert any("this process is not recorded" in line for line in done.own_lines)


def test_children_are_recorded_though_their_parent_gave_up(tmp_path: Path) -> None:
    _, target = train(tmp_path, "background.sys = types.SimpleNamespace(_current_frames=broken)", forks=True)
    report = read_report(target)
    assert calls(report, "child") == 2
    assert len(processes(report, "fork")) == 2
