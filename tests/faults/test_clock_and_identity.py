"""The wall clock is set, or a pid is given away again: durations stay right, and nobody is taken for somebody else."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rlprof.recording.liveness import birth_mark, is_alive, settled_status
from support.programs import calls, operation, processes, read_report, run_recorded, warning_codes, write_program

pytestmark = pytest.mark.timed


@pytest.mark.parametrize("jump", [3600, -86400])
def test_a_wall_clock_that_is_set_in_mid_run_is_said_and_changes_no_duration(tmp_path: Path, jump: int) -> None:
    script = write_program(
        tmp_path,
        f"""
        import time, rlprof

        real = time.time
        for number in range(8):
            if number == 3:
                time.time = lambda: real() + {jump}
            rlprof.iteration()
            with rlprof.profile("step", phase="env.step"):
                time.sleep(0.1)
            rlprof.count("env_steps", 10)
        """,
    )
    report = run_recorded(script).report()
    assert "clock-jump" in warning_codes(report)
    step = operation(report, "step")
    assert step["calls"] == 8
    assert 0.78 <= step["total_seconds"] < 2
    assert step["min_seconds"] * 1.05 >= 0.1
    assert step["max_seconds"] < 1
    assert 0.8 <= report["run"]["wall_seconds"] < 3
    assert 0 < report["throughput"]["sps"] < 110


def test_a_steady_clock_is_not_warned_about(tmp_path: Path) -> None:
    report = run_recorded(write_program(tmp_path, "import time; time.sleep(0.2)")).report()
    assert "clock-jump" not in warning_codes(report)


def test_a_process_is_alive_only_with_its_own_birth_mark() -> None:
    me = os.getpid()
    mine = birth_mark(me)
    assert mine is not None
    assert is_alive(me, mine)
    machine, _, ticks = mine.rpartition(":")
    for other in (f"{machine}:{int(ticks) + 1}", f"another-start-of-the-machine:{ticks}", "", None):
        assert not is_alive(me, other)
        assert settled_status("running", me, other) == "killed"
    assert settled_status("running", me, mine) == "running"
    assert settled_status("completed", me, "whatever") == "completed"


def test_a_dead_child_that_nobody_has_waited_for_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mark = birth_mark(child.pid)
    assert is_alive(child.pid, mark)
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(child.pid, mark)
    child.wait()
    assert not is_alive(child.pid, mark)


def test_a_killed_run_whose_pid_now_belongs_to_another_process_is_killed_not_running(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, signal, rlprof
        rlprof.get_profiler().start("old.rlprof")
        with rlprof.profile("work"):
            pass
        rlprof.get_profiler().summary()
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=False).returncode == -9
    (part,) = (tmp_path / "old.rlprof.parts").glob("*.part")
    with sqlite3.connect(part) as connection:
        connection.execute("UPDATE processes SET pid = ?", (os.getpid(),))  # ours: a pid that lives
    connection.close()
    report = read_report(tmp_path / "old.rlprof")
    assert report["run"]["status"] == "killed"
    assert calls(report, "work") == 1


def test_two_processes_that_had_the_same_pid_are_two_processes(tmp_path: Path) -> None:
    """The name of a part has a random half, so a pid that comes round again starts a part of its own."""
    script = write_program(
        tmp_path,
        """
        import os, sys, rlprof

        real = os.getpid()
        for _ in range(2):
            child = os.fork()
            if child == 0:
                with rlprof.profile("child"):
                    pass
                sys.exit(0)
            os.waitpid(child, 0)
        """,
    )
    # Both children believe that they have the pid 4242.
    hook = "import os\nreal = os.getpid\nfirst = real()\nos.getpid = lambda: real() if real() == first else 4242\n"
    write_program(tmp_path, hook, "own/sitecustomize.py")
    path = os.pathsep.join(filter(None, [str(tmp_path / "own"), os.environ.get("PYTHONPATH")]))
    report = run_recorded(script, PYTHONPATH=path).report()
    assert [process["pid"] for process in processes(report, "fork")] == [4242, 4242]
    assert calls(report, "child") == 2
