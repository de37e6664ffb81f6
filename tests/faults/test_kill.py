"""SIGKILL at any moment: the recording stays readable and lacks at most the last second."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from rlprof.recording import open_recording
from support.programs import (
    DEADLINE,
    Json,
    assert_ledgers_close,
    calls,
    processes,
    read_report,
    recorded_command,
    wait_for,
    warning_codes,
    write_program,
)

#: Says every few milliseconds how many spans it has closed, and when. The moment is taken first: what is printed had
#: happened by then.
TRAINS = """
    import multiprocessing, os, sys, time

    import rlprof


    def train(seconds):
        print("pid", os.getpid(), flush=True)
        closed, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(5):
                with rlprof.profile("step", phase="env.step"):
                    time.sleep(0.0005)
                closed += 1
            rlprof.count("env_steps", 5)
            os.write(1, b"%d %d\\n" % (closed, time.monotonic_ns()))


    if __name__ == "__main__":
        if sys.argv[1] == "worker":
            worker = multiprocessing.get_context("fork").Process(target=train, args=[60])
            worker.start()
            worker.join()
            sys.exit(0 if worker.exitcode == -9 else 1)
        train(60)
"""
LOST_AT_MOST = 1.0


@dataclass(frozen=True)
class Killed:
    """What is known about one trial."""

    pid: int
    killed_ns: int
    said: list[tuple[int, int]]  # spans closed, by when
    code: int
    err: str
    target: Path

    @property
    def closed(self) -> int:
        return self.said[-1][0] if self.said else 0

    def closed_by(self, moment_ns: int) -> int:
        return max((closed for closed, at in self.said if at <= moment_ns), default=0)


def kill_one(folder: Path, what: str, after: float) -> Killed:
    """Start a run, kill its trainer or its worker `after` seconds from when it appeared."""
    script = write_program(folder, TRAINS)
    target = folder / "run.rlprof"
    out = folder / "out.txt"
    with out.open("wb") as stdout:
        run = subprocess.Popen(
            recorded_command(target, [script, what]), cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True
        )
    try:
        victim = wait_for(lambda: _victim(run.pid, what, out), "the process to kill")
        time.sleep(after)
        killed_ns = time.monotonic_ns()
        os.kill(victim, signal.SIGKILL)
        _, err = run.communicate(timeout=DEADLINE)
    finally:
        run.kill()
        run.wait()
    said = [line.split() for line in out.read_text().splitlines() if not line.startswith("pid")]
    numbers = [(int(words[0]), int(words[1])) for words in said if len(words) == 2]
    return Killed(victim, killed_ns, numbers, run.returncode, err, target)


def _victim(pid: int, what: str, out: Path) -> int | None:
    """The trainer as soon as it exists, to catch it while it starts; a worker when it has begun to work."""
    if what == "worker":
        line = out.read_text().partition("\n")[0].split()
        return int(line[1]) if len(line) == 2 else None
    children = psutil.Process(pid).children()
    return children[0].pid if children else None


def check(killed: Killed, what: str) -> None:
    assert killed.code == (-signal.SIGKILL if what == "trainer" else 0), killed.err
    if not killed.target.exists():
        # Killed before it came to write anything, which can only be in its first moments.
        assert what == "trainer"
        assert not killed.said
        assert "before anything was recorded" in killed.err
        return
    report = read_report(killed.target)
    assert "part-unreadable" not in warning_codes(report), report["warnings"]
    statuses = [process["status"] for process in processes(report) if process["pid"] == killed.pid]
    if what == "worker" and not statuses:
        # A worker writes first half a second after its start; until then the report says that there was one.
        assert "process-silent" in warning_codes(report)
        assert killed.closed_by(killed.killed_ns - int(LOST_AT_MOST * 1e9)) == 0
        return
    assert statuses == ["killed"]
    if what == "trainer":
        assert report["run"]["status"] == "killed"
    written = calls(report, "step")
    assert killed.closed_by(killed.killed_ns - int(LOST_AT_MOST * 1e9)) <= written <= killed.closed + 5
    assert_ledgers_close(report)
    _check_tally(killed.target, report)


def _check_tally(target: Path, report: Json) -> None:
    for process in open_recording(target).processes:
        emitted, written = process.tally["spans_emitted"], process.tally["spans_written"]
        assert emitted == written + process.losses["spans_dropped"]
        assert written == sum(stats.count for stats in process.stats.values())
    assert report["losses"]["spans_dropped"] == 0


def campaign(folder: Path, what: str, moments: list[float]) -> None:
    folders = [folder / str(number) for number in range(len(moments))]
    with ThreadPoolExecutor(4) as pool:
        for killed in pool.map(kill_one, folders, [what] * len(moments), moments):
            check(killed, what)


def moments(number: int, seed: int) -> list[float]:
    """Half of them in the first moments, when everything is being set up."""
    chooser = random.Random(seed)
    return [chooser.uniform(0, 0.6) if index % 2 else chooser.uniform(0.6, 2.2) for index in range(number)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("what", ["trainer", "worker"])
def test_a_kill_at_a_random_moment_costs_at_most_the_last_second(tmp_path: Path, what: str) -> None:
    campaign(tmp_path, what, moments(4, seed=len(what)))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["trainer", "worker"])
@pytest.mark.parametrize("seed", range(10))
def test_two_hundred_kills_cost_at_most_the_last_second_each(tmp_path: Path, what: str, seed: int) -> None:
    campaign(tmp_path, what, moments(10, seed=1000 + seed))


def test_a_program_that_is_killed_at_once_still_has_a_recording(tmp_path: Path) -> None:
    script = write_program(tmp_path, "import os; os.kill(os.getpid(), 9)")
    target = tmp_path / "k.rlprof"
    done = subprocess.run(recorded_command(target, [script]), cwd=tmp_path, timeout=DEADLINE, check=False)
    assert done.returncode == -signal.SIGKILL
    report = read_report(target)
    assert [(process["role"], process["status"]) for process in processes(report)] == [("main", "killed")]
    assert report["run"]["status"] == "killed"


def test_a_part_that_was_killed_before_its_tables_were_there_is_silent_not_damaged(tmp_path: Path) -> None:
    """The narrowest moment of all: the file exists, its layout does not."""
    script = write_program(
        tmp_path,
        """
        import os, signal
        import rlprof
        from rlprof.recording import schema, store

        def die(connection):
            os.kill(os.getpid(), signal.SIGKILL)

        with rlprof.profile("parent"):
            pass
        if os.fork() == 0:
            schema.create = die
            import time
            time.sleep(30)
        os.wait()
        """,
    )
    done = subprocess.run(
        recorded_command(tmp_path / "k.rlprof", [script]), cwd=tmp_path, timeout=DEADLINE, check=False
    )
    assert done.returncode == 0
    report = read_report(tmp_path / "k.rlprof")
    assert [process["role"] for process in processes(report)] == ["main"]
    assert "process-silent" in warning_codes(report)
    assert "part-unreadable" not in warning_codes(report)


def test_a_kill_in_the_middle_of_a_write_leaves_the_last_whole_one(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, signal, time, rlprof
        from rlprof.recording.store import PartStore

        whole = PartStore._write_process


        def die_after(self, process):
            whole(self, process)
            if process["losses"]["spans_emitted"] > 200:
                os.kill(os.getpid(), signal.SIGKILL)


        PartStore._write_process = die_after
        while True:
            with rlprof.profile("step"):
                time.sleep(0.001)
        """,
    )
    target = tmp_path / "w.rlprof"
    done = subprocess.run(recorded_command(target, [script]), cwd=tmp_path, timeout=DEADLINE, check=False)
    assert done.returncode == -signal.SIGKILL
    _check_tally(target, read_report(target))


# --- rlprof itself ----------------------------------------------------------------------------------------------------


def test_killing_rlprof_itself_ends_the_trainer_and_leaves_readable_parts(tmp_path: Path) -> None:
    script = write_program(tmp_path, TRAINS)
    target = tmp_path / "run.rlprof"
    run = subprocess.Popen(
        recorded_command(target, [script, "trainer"]), cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    with run.stdout:
        trainer = int(run.stdout.readline().split()[1])
        deadline = time.monotonic() + 1.2
        while time.monotonic() < deadline:
            run.stdout.readline()
        run.kill()
        run.wait()
        wait_for(lambda: not psutil.pid_exists(trainer) or _is_zombie(trainer), "the trainer to end", 10)
    assert not target.exists()
    report = read_report(target)  # the name finds the parts
    assert report["run"]["status"] == "killed"
    assert calls(report, "step") > 50
    assert "unmerged" in warning_codes(report)
    merge = [sys.executable, "-m", "rlprof", "merge", str(tmp_path / "run.rlprof.parts")]
    merged = subprocess.run(merge, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert merged.returncode == 0, merged.stderr
    assert target.is_file()
    assert not (tmp_path / "run.rlprof.parts").exists()
    again = read_report(target)
    assert again["run"]["status"] == "killed"
    assert calls(again, "step") == calls(report, "step")


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_program_that_leaves_by_os_exit_keeps_its_code_and_all_but_its_last_second(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, time, rlprof

        closed, end = 0, time.monotonic() + 1.3
        half = 0
        while time.monotonic() < end:
            with rlprof.profile("step"):
                time.sleep(0.001)
            closed += 1
            if time.monotonic() < end - 1:
                half = closed
        print(half, closed, flush=True)
        os._exit(4)
        """,
    )
    done = subprocess.run(
        recorded_command(tmp_path / "e.rlprof", [script]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 4
    half, closed = map(int, done.stdout.split())
    report = read_report(tmp_path / "e.rlprof")
    assert half <= calls(report, "step") <= closed
    assert (report["run"]["status"], report["run"]["exit_code"]) == ("failed", 4)
