"""`rlprof watch` shows a run while it goes on, ends with it, and does nothing to it."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.programs import run_recorded, write_program

RUN = """
    import sys, time
    from rlprof import count, iteration, profile

    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        iteration()
        with profile("env.step", phase="env.step"):
            time.sleep(0.03)
        count("env_steps", 10)
        with profile("\\x1b]0;learn", phase="learn.loss"):
            time.sleep(0.01)
"""


def started(folder: Path, seconds: float) -> tuple[subprocess.Popen[bytes], Path]:
    target = folder / "run.rlprof"
    script = write_program(folder, RUN)
    command = [
        sys.executable,
        "-m",
        "rlprof",
        "run",
        "--quiet",
        "--no-html",
        "--out",
        str(target),
        str(script),
        str(seconds),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and b"env.step" not in look(target, check=False):
        time.sleep(0.2)
    return process, target


def look(target: Path, *, check: bool = True) -> bytes:
    command = [sys.executable, "-m", "rlprof", "watch", str(target), "--once"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=check, timeout=60).stdout


def read_until_end(pid: int, terminal: int, seconds: float) -> tuple[bytes, int | None]:
    """What a program writes to its terminal, and how it ended; None where it goes on."""
    seen, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 1 << 16)
            except OSError:  # its end of the terminal is closed
                break
    ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended and time.monotonic() < deadline:
        _, status = os.waitpid(pid, 0)
        ended = pid
    return seen, os.waitstatus_to_exitcode(status) if ended else None


def test_a_run_is_shown_while_it_goes_on_and_the_screen_ends_with_it(tmp_path: Path) -> None:
    process, target = started(tmp_path, 6.0)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "rlprof", "watch", str(target), "--every", "0.5"])
    seen, code = read_until_end(pid, terminal, 60)
    os.close(terminal)
    assert process.wait(60) == 0
    plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", seen).decode("utf-8", "replace")
    assert code == 0
    assert plain.count("steps/s now") >= 3
    assert "running" in plain
    assert "completed" in plain.rsplit("steps/s now", 2)[-2]
    assert b"\x1b]" not in seen  # the program's names steer no terminal


def test_ctrl_c_ends_the_watching_alone(tmp_path: Path) -> None:
    process, target = started(tmp_path, 8.0)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "rlprof", "watch", str(target)])
    time.sleep(2.5)
    os.kill(pid, signal.SIGINT)
    _, code = read_until_end(pid, terminal, 30)
    os.close(terminal)
    assert code == 130
    assert process.poll() is None
    assert process.wait(60) == 0


def test_one_look_is_for_scripts(tmp_path: Path) -> None:
    target = run_recorded(write_program(tmp_path, RUN), "1.5").target
    shown = look(target).decode("utf-8")
    assert "completed" in shown
    assert "env.step" in shown
    assert "\x1b" not in shown


def test_where_there_is_no_run_it_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rlprof", "watch", "--once"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
