"""`rlprof run` changes nothing for the program: arguments, streams, names, paths, exit code and output stay its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.programs import (
    DEADLINE,
    RLPROF,
    Outcome,
    environment,
    processes,
    recorded_command,
    run,
    run_bare,
    run_recorded,
    write_program,
)

LOOKS_AROUND = """
    import json, os, signal, sys, threading

    seen = {
        "argv": sys.argv,
        "stdin": sys.stdin.read(),
        "name": __name__,
        "main": sys.modules["__main__"].__dict__ is globals(),
        "file": __file__,
        "path": sys.path,
        "cwd": os.getcwd(),
        "flags": list(sys.flags),
        "handlers": {s.name: str(signal.getsignal(s)) for s in signal.valid_signals() if isinstance(s, signal.Signals)},
        "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "hooks": [repr(sys.excepthook), repr(threading.excepthook), repr(sys.meta_path[-1]),
                  len([f for f in sys.meta_path if not type(f).__module__.startswith("rlprof.")])],
        "spec": None if __spec__ is None else __spec__.name,
    }
    print(json.dumps(seen))
    raise SystemExit(7)
"""
ARGUMENTS = ("--out", "x y", "-q", "--help", "", "--", "-m", "ünïcödé", "--memory")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Outcome]:
    folder = tmp_path_factory.mktemp("both")
    (folder / "elsewhere").mkdir()
    script = write_program(folder, LOOKS_AROUND, "scripts/look.py")
    return (
        run_bare(script, *ARGUMENTS, cwd=folder / "elsewhere", stdin="line 1\nline 2"),
        run_recorded(script, *ARGUMENTS, cwd=folder / "elsewhere", stdin="line 1\nline 2"),
    )


@pytest.mark.parametrize(
    "what", ["argv", "stdin", "name", "main", "file", "path", "cwd", "flags", "handlers", "masked", "hooks", "spec"]
)
def test_a_script_finds_what_it_would_find_without_rlprof(both: tuple[Outcome, Outcome], what: str) -> None:
    bare, recorded = both
    assert json.loads(recorded.out)[what] == json.loads(bare.out)[what]


def test_the_exit_code_is_the_programs(both: tuple[Outcome, Outcome]) -> None:
    bare, recorded = both
    assert recorded.code == bare.code == 7
    report = recorded.report()
    assert (report["run"]["status"], report["run"]["exit_code"]) == ("failed", 7)


def test_a_module_finds_what_it_would_find_without_rlprof(tmp_path: Path) -> None:
    write_program(tmp_path, LOOKS_AROUND, "package/look.py")
    write_program(tmp_path, "", "package/__init__.py")
    bare = run([sys.executable, "-m", "package.look", *ARGUMENTS], tmp_path, stdin="in")
    command = [*RLPROF, "run", "--quiet", "--no-html", "--out", "m.rlprof", "-m", "package.look", *ARGUMENTS]
    recorded = run(command, tmp_path, stdin="in")
    assert recorded.out == bare.out
    assert recorded.code == bare.code == 7


def test_a_directory_with_a_main_file_runs_as_python_runs_it(tmp_path: Path) -> None:
    write_program(tmp_path, "import sys; print(__name__, sys.path[0], sys.argv)", "app/__main__.py")
    bare = run([sys.executable, "app", "1"], tmp_path)
    assert run([*RLPROF, "run", "-q", "--out", "a", "app", "1"], tmp_path).out == bare.out


SEEDED = """
    import concurrent.futures, multiprocessing, random, threading

    import numpy as np


    def work(seed):
        own = random.Random(seed)  # threads share the module's one
        generator = np.random.default_rng(seed)
        return seed, own.random(), generator.normal(size=3).tolist(), own.getrandbits(64)


    if __name__ == "__main__":
        import rlprof

        random.seed(1)
        np.random.seed(1)
        for step in range(200):
            rlprof.iteration()
            with rlprof.profile("env_step", phase="env.step", track_memory=step % 50 == 0):
                print(random.random(), np.random.random(), id(step) % 1)
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            print(list(threads.map(work, range(8))))
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                print(method, pool.map(work, range(4)))
                pool.close()
                pool.join()
        print(random.getstate()[1][:5], np.random.get_state()[1][:5], np.random.random(), hash("seed"))
"""


def test_a_seeded_program_prints_the_same_bytes(tmp_path: Path) -> None:
    script = write_program(tmp_path, SEEDED)
    bare = run_bare(script, PYTHONHASHSEED="5")
    recorded = run_recorded(script, PYTHONHASHSEED="5")
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    assert recorded.err.splitlines() == [f"rlprof: recorded into {recorded.target.name}"]


def test_a_program_that_limits_its_threads_before_it_imports_numpy_gets_that_limit(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, sys

        early = "numpy" in sys.modules
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import threading
        import numpy as np

        np.ones((300, 300)) @ np.ones((300, 300))
        known = {thread.native_id for thread in threading.enumerate()}
        print(early, len([task for task in os.listdir("/proc/self/task") if int(task) not in known]))
        """,
    )
    for start in (run_bare, run_recorded):
        assert start(script, OMP_NUM_THREADS=None, OPENBLAS_NUM_THREADS=None).out == "False 0\n"


def test_the_sitecustomize_of_the_user_still_runs(tmp_path: Path) -> None:
    write_program(tmp_path, "import sys; sys.customized = __file__", "own/sitecustomize.py")
    script = write_program(tmp_path, "import sys, sitecustomize; print(sys.customized, sitecustomize.__file__)")
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, [str(tmp_path / "own"), inherited]))
    bare = run_bare(script, PYTHONPATH=path)
    recorded = run_recorded(script, PYTHONPATH=path)
    assert str(tmp_path / "own") in bare.out
    assert recorded.out == bare.out


def test_a_sitecustomize_that_fails_costs_neither_the_program_nor_its_recording(tmp_path: Path) -> None:
    write_program(tmp_path, "raise RuntimeError('broken customization')", "own/sitecustomize.py")
    script = write_program(tmp_path, "import rlprof\nwith rlprof.profile('work'):\n    print('ran')")
    path = os.pathsep.join(filter(None, [str(tmp_path / "own"), os.environ.get("PYTHONPATH")]))
    bare = run_bare(script, PYTHONPATH=path)
    recorded = run_recorded(script, PYTHONPATH=path)
    assert recorded.out == bare.out == "ran\n"
    assert "broken customization" in bare.err
    assert "broken customization" in recorded.err
    assert recorded.report()["operations"][0]["path"] == ["work"]


def test_a_script_that_raises_shows_its_own_traceback_and_code(tmp_path: Path) -> None:
    script = write_program(tmp_path, "def f():\n    raise ValueError('mine')\nf()\n")
    bare, recorded = run_bare(script), run_recorded(script)
    assert recorded.code == bare.code == 1
    assert recorded.err.startswith(bare.err)
    assert recorded.report()["run"]["status"] == "failed"


def test_a_script_with_a_syntax_error_ends_as_without_rlprof(tmp_path: Path) -> None:
    script = write_program(tmp_path, "def f(:\n")
    bare, recorded = run_bare(script), run_recorded(script)
    assert recorded.code == bare.code == 1
    assert recorded.err.startswith(bare.err)


def test_a_script_that_does_not_exist_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = run([*RLPROF, "run", "absent.py", "--seed", "1"], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == ["rlprof: there is no script absent.py"]
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_does_not_exist_gets_pythons_own_message_and_code(tmp_path: Path) -> None:
    bare = run([sys.executable, "-m", "absent_module"], tmp_path)
    recorded = run([*RLPROF, "run", "-q", "--out", "x", "-m", "absent_module"], tmp_path)
    assert recorded.code == bare.code == 1
    assert recorded.err.startswith(bare.err)
    assert "No module named absent_module" in bare.err


def test_no_script_at_all_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = run([*RLPROF, "run"], tmp_path)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1])
def test_a_program_that_dies_of_a_signal_passes_that_signal_on(tmp_path: Path, number: signal.Signals) -> None:
    script = write_program(tmp_path, f"import os; print('before', flush=True); os.kill(os.getpid(), {int(number)})")
    bare, recorded = run_bare(script), run_recorded(script)
    assert recorded.code == bare.code == -number
    assert recorded.out == bare.out
    assert recorded.report()["run"]["status"] == "killed"


def test_an_ignored_sigchld_is_inherited_as_without_rlprof(tmp_path: Path) -> None:
    script = write_program(tmp_path, "import signal; print(signal.getsignal(signal.SIGCHLD))")

    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    bare = run([sys.executable, str(script)], tmp_path, preexec=ignore)
    assert run_recorded(script, preexec=ignore).out == bare.out


def test_a_closed_pipe_behind_rlprof_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """Nobody reads what rlprof has to say: the program's end is what counts all the same."""
    script = write_program(tmp_path, "import time; time.sleep(1.5); raise SystemExit(5)")
    target = tmp_path / "p.rlprof"
    command = [*RLPROF, "run", "--out", str(target), "--summary-seconds", "1", str(script)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(DEADLINE) == 5
    assert target.is_file()


def test_options_behind_a_module_are_the_modules(tmp_path: Path) -> None:
    write_program(tmp_path, "import sys; print(sys.argv[1:])", "tool.py")
    for form in (["-m", "tool"], ["-mtool"]):
        done = run(
            [*RLPROF, "run", "-q", "--out", f"{len(form)}.rlprof", *form, "-h", "--out", "z", "--", "-q"], tmp_path
        )
        assert done.out == "['-h', '--out', 'z', '--', '-q']\n"


def test_an_unknown_option_of_rlprof_is_not_taken_for_a_script(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('ran')")
    done = run([*RLPROF, "run", "--sampler-hertz", "5", str(script)], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--sampler-hertz" in done.err


def test_a_run_inside_a_run_is_recorded_by_itself(tmp_path: Path) -> None:
    write_program(tmp_path, "import rlprof\nwith rlprof.profile('inner'): pass", "inner.py")
    inner = recorded_command(tmp_path / "inner.rlprof", ["inner.py"])
    outer = write_program(tmp_path, f"import subprocess; subprocess.run({inner!r}, check=True)", "outer.py")
    done = run_recorded(outer)
    assert done.code == 0, done.err
    report = run([*RLPROF, "report", "inner.rlprof", "--json", "-"], tmp_path)
    assert [p["role"] for p in processes(json.loads(report.out))] == ["main"]
