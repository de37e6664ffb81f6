"""The profiler object inside a program: what each of its methods does, and that nothing happens unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlprof import get_profiler, profile
from rlprof.model.errors import EmptyRecording, OutputExists
from rlprof.profiler import Profiler
from support.programs import calls, read_report, run_bare, run_recorded, write_program


def test_importing_rlprof_starts_nothing(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, sys, threading

        before = {name: os.listdir("/proc/self/" + name) for name in ("task", "fd")}
        files = os.listdir(".")
        environment = dict(os.environ)
        handlers = [__import__("signal").getsignal(number) for number in range(1, 32)]
        import rlprof

        assert threading.active_count() == 1
        assert {name: os.listdir("/proc/self/" + name) for name in ("task", "fd")} == before
        assert os.listdir(".") == files and dict(os.environ) == environment
        assert [__import__("signal").getsignal(number) for number in range(1, 32)] == handlers
        heavy = {"numpy", "torch", "sqlite3", "psutil", "rich", "click"} & set(sys.modules)
        assert not heavy, heavy
        with rlprof.profile("x", track_memory=True), rlprof.iteration():
            rlprof.count("env_steps")
        assert threading.active_count() == 1 and "numpy" not in sys.modules
        """,
    )
    done = run_bare(script)
    assert done.code == 0, done.err


def test_one_program_may_use_every_method(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import json, os, threading
        from rlprof import count, get_profiler, iteration, profile

        profiler = get_profiler()
        assert profiler is get_profiler()


        def work(times):
            for _ in range(times):
                with profile("work", phase="env.step"):
                    pass


        def seen():
            report = json.loads(profiler.report().json())
            return sum(o["calls"] for o in report["operations"] if o["path"][-1] == "work")


        work(100)  # off: not recorded
        profiler.enable()
        work(1)
        profiler.enable()  # twice does no harm
        work(2)
        assert seen() == 3
        profiler.disable()
        work(100)
        assert seen() == 3
        profiler.enable()
        work(4)
        assert seen() == 7
        assert "env.step" in profiler.summary()
        assert "work" in str(profiler.report()) and "| " in profiler.report().markdown()
        assert profiler.report().data.operations[0].calls == 7
        profiler.save("saved.rlprof")
        profiler.reset()
        assert seen() == 0
        work(5)
        assert seen() == 5
        assert profiler.stop() is None
        assert seen() == 5  # what was in memory is still there
        work(100)
        assert seen() == 5

        path = profiler.start("file.rlprof", sampler_hz=0, memory=False)
        work(6)
        assert seen() == 6
        profiler.save("copy.rlprof")
        work(7)
        assert profiler.stop() == path == __import__("pathlib").Path("file.rlprof").absolute()
        assert seen() == 13
        assert profiler.stop() is None

        profiler.enable()
        work(3)
        profiler.stop()
        assert seen() == 3  # the latest recording, not the file before it

        named = profiler.start()
        work(8)
        assert profiler.stop() == named
        assert threading.active_count() == 1
        assert "RLPROF_SESSION" not in os.environ
        print(named.relative_to(os.getcwd()))
        """,
        "user.py",
    )
    done = run_bare(script)
    assert done.code == 0, done.err
    assert done.err == ""
    assert calls(read_report(tmp_path / "saved.rlprof"), "work") == 7
    assert calls(read_report(tmp_path / "copy.rlprof"), "work") == 6
    assert calls(read_report(tmp_path / "file.rlprof"), "work") == 13
    assert calls(read_report(tmp_path / done.out.strip()), "work") == 8
    assert done.out.startswith("rlprof-runs/user-")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "copy.rlprof",
        "file.rlprof",
        "rlprof-runs",
        "saved.rlprof",
        "user.py",
    ]


def test_a_program_that_never_stops_its_recording_has_it_in_parts(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        from rlprof import get_profiler, profile
        get_profiler().start("left.rlprof")
        with profile("work"):
            pass
        """,
    )
    assert run_bare(script).code == 0
    report = read_report(tmp_path / "left.rlprof")
    assert calls(report, "work") == 1
    assert report["run"]["status"] == "completed"


def test_children_of_a_program_that_records_itself_are_recorded(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import multiprocessing
        from rlprof import get_profiler, profile

        def work():
            with profile("child"):
                pass

        if __name__ == "__main__":
            get_profiler().start("family.rlprof")
            for method in ("fork", "spawn"):
                child = multiprocessing.get_context(method).Process(target=work)
                child.start()
                child.join()
            get_profiler().stop()
            child = multiprocessing.get_context("spawn").Process(target=work)  # no longer recorded
            child.start()
            child.join()
        """,
    )
    assert run_bare(script).code == 0
    report = read_report(tmp_path / "family.rlprof")
    assert sorted(process["role"] for process in report["run"]["processes"]) == ["fork", "main", "spawn"]
    assert calls(report, "child") == 2


def test_under_rlprof_run_the_profiler_of_the_program_reads_and_does_not_interfere(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import json
        from rlprof import get_profiler, profile

        with profile("work"):
            pass
        profiler = get_profiler()
        report = json.loads(profiler.report().json())
        print([operation["path"] for operation in report["operations"] if operation["phase"] != "gc"])
        profiler.start("other.rlprof")
        assert profiler.stop() is None
        with profile("work"):
            pass
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    assert done.out == "[['work']]\n"
    assert calls(done.report(), "work") == 2
    assert not (tmp_path / "other.rlprof").exists()
    assert any("already recording" in line for line in done.own_lines)


@pytest.fixture
def profiler() -> Profiler:
    return get_profiler()


def test_there_is_nothing_to_report_before_anything_was_recorded(profiler: Profiler) -> None:
    with pytest.raises(EmptyRecording, match="enable"):
        Profiler().report()
    with pytest.raises(EmptyRecording):
        profiler.save("x")


def test_a_file_that_exists_is_only_replaced_when_asked(profiler: Profiler, tmp_path: Path) -> None:
    target = tmp_path / "a.rlprof"
    target.write_text("precious")
    with pytest.raises(OutputExists):
        profiler.start(target)
    assert target.read_text() == "precious"
    profiler.start(target, overwrite=True, sampler_hz=0, memory=False)
    try:
        with profile("work"):
            pass
        other = tmp_path / "b.rlprof"
        other.write_text("precious")
        with pytest.raises(OutputExists):
            profiler.save(other)
        assert other.read_text() == "precious"
        profiler.save(other, overwrite=True)
    finally:
        profiler.stop()
    assert calls(read_report(target), "work") == calls(read_report(other), "work") == 1


def test_the_json_of_a_report_is_strict(profiler: Profiler) -> None:
    profiler.enable()
    try:
        json.loads(profiler.report().json(), parse_constant=lambda name: pytest.fail(f"{name} in the report"))
    finally:
        profiler.stop()
