"""Where recordings lie: names, modes, never overwritten unasked, and no secret in any byte."""

from __future__ import annotations

import re
import stat
import subprocess
from pathlib import Path

import pytest

from support.programs import (
    DEADLINE,
    RLPROF,
    calls,
    read_line,
    read_report,
    recorded_command,
    run,
    run_recorded,
    started,
    wait_for,
    write_program,
)

WORKS = "import rlprof\nwith rlprof.profile('work'): pass\nprint('ran')\n"


def test_an_existing_recording_is_not_touched_and_nothing_runs(tmp_path: Path) -> None:
    script = write_program(tmp_path, WORKS)
    target = tmp_path / "kept.rlprof"
    target.write_text("precious")
    done = run(recorded_command(target, [script]), tmp_path)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "--overwrite" in done.err
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.rlprof", "program.py"]


@pytest.mark.parametrize("name", ["kept.rlprof", "kept"])
def test_overwrite_replaces_the_recording_of_that_name_and_nothing_else(tmp_path: Path, name: str) -> None:
    script = write_program(tmp_path, WORKS)
    (tmp_path / "kept").write_text("a file of the user's")
    (tmp_path / "kept.rlprof").write_text("an old recording")
    (tmp_path / "kept.rlprof.parts").mkdir()
    (tmp_path / "kept.rlprof.parts" / "1-x.part").write_bytes(b"")
    done = run(recorded_command(tmp_path / name, [script], ["--overwrite"]), tmp_path)
    assert (done.code, done.out) == (0, "ran\n"), done.err
    assert calls(read_report(tmp_path / "kept.rlprof"), "work") == 1
    assert (tmp_path / "kept").read_text() == "a file of the user's"
    assert not (tmp_path / "kept.rlprof.parts").exists()


def test_overwrite_with_a_script_that_does_not_exist_destroys_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept.rlprof").write_text("precious")
    assert run(recorded_command(tmp_path / "kept.rlprof", ["absent.py"], ["--overwrite"]), tmp_path).code == 2
    assert (tmp_path / "kept.rlprof").read_text() == "precious"


def test_a_recording_that_is_being_written_is_not_overwritten(tmp_path: Path) -> None:
    script = write_program(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    target = tmp_path / "busy.rlprof"
    with started(recorded_command(target, [script]), tmp_path) as process:
        assert read_line(process.stdout) == "up"
        other = write_program(tmp_path, WORKS, "other.py")
        for options in ([], ["--overwrite"]):
            done = run(recorded_command(target, [other], options), tmp_path)
            assert (done.code, done.out) == (2, ""), done.err
            assert len(done.err.splitlines()) == 1
        assert read_report(target)["run"]["status"] == "running"


def test_the_default_name_has_the_script_the_date_and_the_time(tmp_path: Path) -> None:
    script = write_program(tmp_path, WORKS, "scripts/train it.py")
    assert run([*RLPROF, "run", "-q", "--no-html", str(script)], tmp_path).code == 0
    (target,) = (tmp_path / "rlprof-runs").iterdir()
    assert re.fullmatch(r"train-it-\d{8}-\d{6}\.rlprof", target.name)


def test_the_default_name_of_a_module_is_the_modules(tmp_path: Path) -> None:
    write_program(tmp_path, WORKS, "package/train.py")
    assert run([*RLPROF, "run", "-q", "--no-html", "-m", "package.train"], tmp_path).code == 0
    (target,) = (tmp_path / "rlprof-runs").iterdir()
    assert re.fullmatch(r"package\.train-\d{8}-\d{6}\.rlprof", target.name)


def test_runs_started_at_once_with_the_same_name_get_a_recording_each(tmp_path: Path) -> None:
    script = write_program(tmp_path, WORKS)
    command = [*RLPROF, "run", "-q", "--no-html", str(script)]
    runs = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(DEADLINE) for process in runs] == [0] * 4
    found = sorted((tmp_path / "rlprof-runs").iterdir())
    assert len(found) == 4
    assert [calls(read_report(path), "work") for path in found] == [1] * 4


def test_of_runs_started_at_once_with_the_same_out_one_runs_and_the_others_say_why_not(tmp_path: Path) -> None:
    script = write_program(tmp_path, WORKS)
    command = recorded_command(tmp_path / "same.rlprof", [script])
    runs = [
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ends = [process.communicate(timeout=DEADLINE) for process in runs]
    assert sorted(process.returncode for process in runs) == [0, 2, 2]
    for process, (out, err) in zip(runs, ends, strict=True):
        assert out == ("ran\n" if process.returncode == 0 else "")
        assert len(err.splitlines()) == 1
    assert calls(read_report(tmp_path / "same.rlprof"), "work") == 1


SECRETS = ["hunter2-secret", "zq81passphrase", "sk-abcdefghijklmnopqrstuv", "0123456789abcdef0123456789abcdef01234567"]


def test_a_secret_on_the_command_line_is_in_no_byte_of_the_recording(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import multiprocessing, subprocess, sys, time
        import rlprof

        def work():
            with rlprof.profile("child"):
                time.sleep(0.01)

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                child = multiprocessing.get_context(method).Process(target=work)
                child.start()
                child.join()
            subprocess.run([sys.executable, "-c", "pass", "--api-key", sys.argv[2]], check=True)
            print("up", flush=True)
            sys.stdin.read(1)
        """,
    )
    words = [
        "--token",
        SECRETS[0],
        f"--password={SECRETS[1]}",
        SECRETS[2],
        f"https://me:{SECRETS[0]}@host/",
        SECRETS[3],
    ]
    target = tmp_path / "s.rlprof"
    with subprocess.Popen(
        recorded_command(target, [script, *words]),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert read_line(process.stdout) == "up"
        _assert_clean(tmp_path)
        process.communicate("\n", timeout=DEADLINE)
    assert process.returncode == 0
    _assert_clean(tmp_path)
    report = read_report(target)
    assert "***" in report["run"]["command"]
    assert len(report["run"]["processes"]) == 4


def _assert_clean(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert files
    for path in files:
        content = path.read_bytes()
        for secret in SECRETS:
            for form in (secret.encode(), secret.encode("utf-16-le")):
                assert form not in content, f"{secret} is in {path}"


def test_files_of_a_recording_are_for_their_owner_alone(tmp_path: Path) -> None:
    script = write_program(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    target = tmp_path / "m.rlprof"
    with started(recorded_command(target, [script]), tmp_path) as process:
        assert read_line(process.stdout) == "up"
        parts = tmp_path / "m.rlprof.parts"
        files = wait_for(
            lambda: [*parts.glob("*.part-wal"), *parts.glob("*.part"), *parts.glob("run.json")][2:], "parts"
        )
        assert files
        assert {stat.S_IMODE(path.stat().st_mode) for path in parts.iterdir()} == {0o600}
        assert stat.S_IMODE(parts.stat().st_mode) == 0o700
    done = run_recorded(write_program(tmp_path, WORKS, "done.py"))
    assert stat.S_IMODE(done.target.stat().st_mode) == 0o600


def test_out_in_a_place_that_cannot_be_written_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    script = write_program(tmp_path, WORKS)
    (tmp_path / "file").write_text("")
    done = run(recorded_command(tmp_path / "file" / "x.rlprof", [script]), tmp_path)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("option", [["--schedule", "active=0"], ["--schedule", "nonsense"], ["--sampler-hz", "-1"]])
def test_an_option_that_makes_no_sense_is_exit_code_2_and_nothing_runs(tmp_path: Path, option: list[str]) -> None:
    script = write_program(tmp_path, WORKS)
    done = run([*RLPROF, "run", *option, str(script)], tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py"]
