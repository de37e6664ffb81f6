"""The disk fills up, the directory goes away or may not be written: training finishes, what was written is readable."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.programs import (
    calls,
    processes,
    read_report,
    recorded_command,
    run,
    warning_codes,
    write_program,
)

#: Calls `trouble()` after half a second, goes on for longer than a flush takes, and says how many spans it closed.
TRAINS = """
    import os, shutil, sys, time

    import rlprof

    place = os.path.dirname(os.path.abspath(sys.argv[1]))


    def train(seconds):
        closed, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            with rlprof.profile("step"):
                time.sleep(0.001)
            closed += 1
        return closed


    def fill():
        with open(os.path.join(place, "ballast"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

"""


def program(trouble: str, relief: str = "pass") -> str:
    main = f"""
    if __name__ == "__main__":
        closed = train(0.6)
        {trouble}
        closed += train(0.8)
        {relief}
        print(closed)
"""
    return TRAINS + main


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small file system needs root; the limit on file sizes is tested everywhere")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_does_not_stop_training_and_is_said_once(small_disk: Path, tmp_path: Path) -> None:
    script = write_program(tmp_path, program("fill()"))
    target = small_disk / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    warnings = [line for line in done.own_lines if "recorded into" not in line]
    assert len(warnings) == 1, done.err
    assert "cannot write the recording" in warnings[0]
    assert "Traceback" not in done.err
    report = read_report(target)
    assert 100 < calls(report, "step") <= int(done.out)


def test_when_there_is_room_again_nothing_is_missing(small_disk: Path, tmp_path: Path) -> None:
    script = write_program(tmp_path, program("fill()", "os.unlink(os.path.join(place, 'ballast'))"))
    target = small_disk / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    report = read_report(target)
    assert target.is_file()
    assert calls(report, "step") == int(done.out)
    assert "write-failed" in warning_codes(report)
    assert report["losses"]["spans_dropped"] == 0


def test_many_workers_on_a_full_disk_say_it_once(small_disk: Path, tmp_path: Path) -> None:
    source = program("fill()").replace(
        "closed += train(0.8)",
        """import multiprocessing
        workers = [multiprocessing.get_context("fork").Process(target=train, args=[0.7]) for _ in range(4)]
        [worker.start() for worker in workers]
        closed += train(0.8)
        [worker.join() for worker in workers]""",
    )
    script = write_program(tmp_path, source)
    target = small_disk / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    assert len([line for line in done.own_lines if "recorded into" not in line]) == 1, done.err
    assert read_report(target)["run"]["status"] == "completed"


def test_a_limit_on_the_size_of_files_does_not_stop_training_and_is_said_once(tmp_path: Path) -> None:
    trouble = """import resource
        parts = sys.argv[1] + ".parts"
        largest = max(os.stat(os.path.join(parts, name)).st_size for name in os.listdir(parts))
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))"""
    script = write_program(tmp_path, program(trouble))
    target = tmp_path / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    warnings = [line for line in done.own_lines if "recorded into" not in line]
    assert len(warnings) == 1, done.err
    assert "cannot write the recording" in warnings[0]
    assert 100 < calls(read_report(target), "step") <= int(done.out)


def test_a_disk_that_hangs_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import threading, rlprof
        from rlprof.recording import store

        store.PartStore.write = lambda self, batch: threading.Event().wait()
        with rlprof.profile("work"):
            print("trained")
        """,
    )
    target = tmp_path / "run.rlprof"
    done = run(recorded_command(target, [script]), tmp_path)
    assert (done.code, done.out) == (0, "trained\n")
    assert len([line for line in done.own_lines if "recorded into" not in line]) == 1, done.err
    assert read_report(target)["run"]["status"] == "completed"


def test_a_directory_removed_in_mid_run_is_made_again_with_all_that_was_in_it(tmp_path: Path) -> None:
    script = write_program(tmp_path, program("shutil.rmtree(sys.argv[1] + '.parts')"))
    target = tmp_path / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    warnings = [line for line in done.own_lines if "recorded into" not in line]
    assert len(warnings) == 1, done.err
    assert "removed" in warnings[0]
    report = read_report(target)
    assert calls(report, "step") == int(done.out)
    assert "directory-removed" in warning_codes(report)
    assert report["run"]["status"] == "completed"


def test_a_worker_forked_right_after_the_directory_was_removed_is_recorded(tmp_path: Path) -> None:
    trouble = """shutil.rmtree(sys.argv[1] + '.parts')
        child = os.fork()
        if child == 0:
            with rlprof.profile("child"):
                pass
            sys.exit(0)
        os.waitpid(child, 0)"""
    script = write_program(tmp_path, program(trouble))
    target = tmp_path / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    assert len([line for line in done.own_lines if "recorded into" not in line]) == 1, done.err
    report = read_report(target)
    assert calls(report, "child") == 1
    assert calls(report, "step") == int(done.out)


def test_a_removed_directory_that_cannot_be_made_again_yet_is_made_as_soon_as_it_can(tmp_path: Path) -> None:
    """For a time a file stands where the directory's parent was."""
    place = tmp_path / "place"
    trouble = "shutil.rmtree(place); open(place, 'w').close()"
    script = write_program(tmp_path, program(trouble, "os.unlink(place); os.mkdir(place)"))
    target = place / "run.rlprof"
    place.mkdir()
    done = run(recorded_command(target, [script, str(target)]), tmp_path)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert len([line for line in done.own_lines if "recorded into" not in line]) == 1, done.err
    assert calls(read_report(target), "step") == int(done.out)


def bound_by_modes() -> None:
    """Root may write anywhere; without this capability modes bind it as they bind everyone."""
    if os.getuid() == 0:
        drop, override, search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        system = ctypes.CDLL(None)
        assert system.prctl(drop, override, 0, 0, 0) == system.prctl(drop, search, 0, 0, 0) == 0


def test_a_directory_made_read_only_in_mid_run_does_not_stop_training_and_is_said_once(tmp_path: Path) -> None:
    trouble = """os.chmod(sys.argv[1] + '.parts', 0o500)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                with rlprof.profile("child"):
                    pass
                sys.exit(0)
            os.waitpid(child, 0)"""
    script = write_program(tmp_path, program(trouble, "os.chmod(sys.argv[1] + '.parts', 0o700)"))
    target = tmp_path / "run.rlprof"
    done = run(recorded_command(target, [script, str(target)]), tmp_path, preexec=bound_by_modes)
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if "recorded into" not in line]
    assert len(lines) == 1, done.err
    report = read_report(target)
    assert calls(report, "step") == int(done.out)
    assert len(processes(report)) == 1
