"""Every child process is one process of the report, with its own spans and the role of how it came to be."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from support.programs import (
    Json,
    Outcome,
    assert_ledgers_close,
    calls,
    operations,
    processes,
    run_bare,
    run_recorded,
    wait_for,
    warning_codes,
    write_program,
)

#: Each program starts three children that make a hundred spans each and count to a hundred.
CHILDREN = 3
WORK = """
    import multiprocessing, os, subprocess, sys, time
    from concurrent.futures import ProcessPoolExecutor

    import rlprof


    def work(number=0):
        for _ in range(100):
            with rlprof.profile("child_step", phase="env.step"):
                time.sleep(0.0005)
            rlprof.count("env_steps")
        return os.getpid()


    def meet(barrier):
        barrier.wait(30)
        return work()


    def parent_step():
        for _ in range(10):
            with rlprof.profile("parent_step"):
                pass

"""
MAIN = """
    if __name__ == "__main__":
        parent_step()
        started = time.monotonic()
"""


def with_processes(method: str, daemon: bool = False) -> str:
    return f"""
        context = multiprocessing.get_context("{method}")
        workers = [context.Process(target=work, daemon={daemon}) for _ in range({CHILDREN})]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    """


PROGRAMS = {
    "fork": ("fork", with_processes("fork")),
    "spawn": ("spawn", with_processes("spawn")),
    "forkserver": ("forkserver", with_processes("forkserver")),
    "daemon": ("fork", with_processes("fork", daemon=True)),
    "os.fork": (
        "fork",
        f"""
        for _ in range({CHILDREN}):
            if os.fork() == 0:
                work()
                sys.exit(0)
        for _ in range({CHILDREN}):
            os.wait()
        """,
    ),
    "subprocess": (
        "subprocess",
        f"""
        code = "import sys; sys.path.insert(0, sys.argv[1]); import program; program.work()"
        here = os.path.dirname(os.path.abspath(__file__))
        children = [subprocess.Popen([sys.executable, "-c", code, here]) for _ in range({CHILDREN})]
        for child in children:
            child.wait()
        """,
    ),
    "subprocess with preexec_fn": (
        "subprocess",
        f"""
        code = "import sys; sys.path.insert(0, sys.argv[1]); import program; program.work()"
        here = os.path.dirname(os.path.abspath(__file__))
        command = [sys.executable, "-c", code, here]
        children = [subprocess.Popen(command, preexec_fn=os.getpid) for _ in range({CHILDREN})]
        for child in children:
            child.wait()
        """,
    ),
    "executor": (
        "fork",
        f"""
        with multiprocessing.Manager() as manager:
            barrier = manager.Barrier({CHILDREN})
            with ProcessPoolExecutor({CHILDREN}, multiprocessing.get_context("fork")) as executor:
                assert len(set(executor.map(meet, [barrier] * {CHILDREN}))) == {CHILDREN}
        """,
    ),
}
HELPERS = {"executor": 1}  # processes beside the workers: the manager


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return {}


@pytest.fixture(params=PROGRAMS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def report(kind: str, outcomes: dict[str, Outcome], tmp_path_factory: pytest.TempPathFactory) -> Json:
    if kind not in outcomes:
        folder = tmp_path_factory.mktemp("children")
        script = write_program(folder, WORK + MAIN + "".join(f"    {line}\n" for line in _body(kind)))
        outcomes[kind] = run_recorded(script)
    assert outcomes[kind].code == 0, outcomes[kind].err
    return outcomes[kind].report()


def _body(kind: str) -> list[str]:
    return [f"    {line}" for line in textwrap.dedent(PROGRAMS[kind][1]).splitlines()]


def test_each_child_is_one_process_of_the_right_role(kind: str, report: Json) -> None:
    role = PROGRAMS[kind][0]
    assert len(processes(report, "main")) == 1
    assert len(processes(report, role)) == CHILDREN + HELPERS.get(kind, 0)
    assert len(processes(report)) == 1 + CHILDREN + HELPERS.get(kind, 0)
    assert len({process["pid"] for process in processes(report)}) == len(processes(report))
    assert "process-silent" not in warning_codes(report), report["warnings"]


def test_each_child_has_its_own_spans_and_none_twice(kind: str, report: Json) -> None:
    steps = operations(report, "child_step")
    assert [step["calls"] for step in steps] == [100] * CHILDREN
    assert len({step["process"] for step in steps}) == CHILDREN
    main = processes(report, "main")[0]["id"]
    assert main not in {step["process"] for step in steps}
    assert [(step["process"], step["calls"]) for step in operations(report, "parent_step")] == [(main, 10)]


def test_totals_are_summed_over_processes(report: Json) -> None:
    assert report["throughput"]["env_steps"] == 100 * CHILDREN
    for step in operations(report, "child_step"):
        assert 0.05 <= step["total_seconds"] <= 5


def test_the_ledger_of_every_process_closes(report: Json) -> None:
    assert_ledgers_close(report)


def test_every_process_says_how_it_ended(kind: str, report: Json) -> None:
    assert {process["status"] for process in processes(report)} <= {"completed", "killed"}
    workers = {step["process"] for step in operations(report, "child_step")}
    assert {p["status"] for p in processes(report) if p["id"] in workers} == {"completed"}


def test_a_child_that_raises_is_a_failed_process(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import multiprocessing

        def fail():
            raise ValueError("of the worker")

        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                worker = multiprocessing.get_context(method).Process(target=fail)
                worker.start()
                worker.join()
        """,
    )
    done = run_recorded(script)
    assert done.code == 0
    assert done.err.count("ValueError: of the worker") == 3
    assert {process["role"]: process["status"] for process in processes(done.report())} == {
        "main": "completed",
        "fork": "failed",
        "spawn": "failed",
        "forkserver": "failed",
    }


POOL = """
    import multiprocessing, os, sys, time

    import rlprof


    def step(_):
        with rlprof.profile("pool_step"):
            time.sleep(0.001)
        return os.getpid()


    def hang(_):
        begun.release()
        time.sleep(600)


    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        begun = context.Semaphore(0)
        pool = context.Pool(2)
        done, deadline = 0, time.monotonic() + 1.6
        while time.monotonic() < deadline:
            done += len(pool.map(step, range(20)))
        pool.map_async(hang, range(2), chunksize=1)  # a worker that waits for work may end by itself
        for _ in range(2):
            begun.acquire()
        pool.terminate()
        pool.join()
        print(done)
"""


def test_a_terminated_pool_loses_at_most_its_last_second_and_says_so(tmp_path: Path) -> None:
    done = run_recorded(write_program(tmp_path, POOL))
    assert done.code == 0, done.err
    report = done.report()
    made, kept = int(done.out), calls(report, "pool_step")
    assert len(processes(report, "fork")) == 2
    assert {process["status"] for process in processes(report, "fork")} == {"killed"}
    assert made * 0.3 <= kept <= made
    assert "unfinished-processes" in warning_codes(report)


STAYS = """
    import os, subprocess, sys, time

    import rlprof

    child = os.fork()
    if child == 0:
        for descriptor in range(3):
            os.close(descriptor)
        while True:
            with rlprof.profile("endless"):
                time.sleep(0.05)
    print(child, flush=True)
    time.sleep(0.7)
    os._exit(0) if "os._exit" in sys.argv else None
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_that_never_ends_does_not_hold_the_run_up(tmp_path: Path) -> None:
    script = write_program(tmp_path, STAYS)
    held_up = []
    for attempt in range(3):  # others may hold a run up now and then; the child would do it every time
        bare, done = run_bare(script), run_recorded(script, options=["--overwrite"] if attempt else [])
        for each in (bare, done):
            os.kill(int(each.out), signal.SIGKILL)
            assert each.code == 0
        report = done.report()
        assert [(p["role"], p["status"]) for p in processes(report)] == [("main", "completed"), ("fork", "running")]
        assert calls(report, "endless") > 0
        # What Python itself needs to start twice is not a delay at exit; the bar of 1 s is for the end alone.
        held_up.append(done.seconds - bare.seconds - _start_seconds(tmp_path))
        if held_up[-1] < 1:
            break
    assert min(held_up) < 1


def _start_seconds(folder: Path) -> float:
    empty = write_program(folder, "", "empty.py")
    run_recorded(empty, options=["--overwrite"])
    return run_recorded(empty, options=["--overwrite"]).seconds


def test_a_child_that_outlives_the_run_stops_recording_and_brings_no_parts_back(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, time

        from rlprof import _core

        if os.fork() == 0:
            for descriptor in range(3):
                os.close(descriptor)
            deadline = time.monotonic() + 30
            while _core.is_on() and time.monotonic() < deadline:
                time.sleep(0.01)
            with open("draft.txt", "w") as file:
                file.write(f"recording: {_core.is_on()}")
            os.rename("draft.txt", "after.txt")
            os._exit(0)
        time.sleep(0.8)
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    wait_for((tmp_path / "after.txt").exists, "the child's last word")
    assert (tmp_path / "after.txt").read_text() == "recording: False"
    assert not (tmp_path / "program.rlprof.parts").exists()
