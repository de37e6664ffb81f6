"""Signals reach the program as they would without rlprof, its own handlers stay, and it ends as it would have ended."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.programs import (
    DEADLINE,
    bare_command,
    calls,
    operations,
    read_report,
    recorded_command,
    wait_for,
    write_program,
)

CTRL_C = b"\x03"


@dataclass(frozen=True)
class End:
    code: int
    out: str
    err: str


class Terminal:
    """A command in the foreground of a terminal of its own, whose keys the test presses."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._keyboard, screen = pty.openpty()
        self._out, self._err = folder / "out.txt", folder / "err.txt"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=screen,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (no threads here)
            )
        os.close(screen)

    def press(self, keys: bytes) -> None:
        os.write(self._keyboard, keys)

    def wait_for_line(self, line: str) -> None:
        """Until it is there with its end: a program without a buffer writes the two one after the other."""
        whole = f"\n{line}\n"
        wait_for(lambda: whole in f"\n{self._out.read_text()}" or self.process.poll() is not None, line)

    def end(self) -> End:
        try:
            code = self.process.wait(DEADLINE)
        finally:
            self.process.kill()
            os.close(self._keyboard)
        return End(code, self._out.read_text(), self._err.read_text())


DEFAULT = """
    import time, rlprof

    print("up", flush=True)
    while True:
        with rlprof.profile("work"):
            time.sleep(0.01)
"""
SAVES = """
    import sys, time, rlprof

    print("up", flush=True)
    try:
        while True:
            with rlprof.profile("work"):
                time.sleep(0.01)
    except KeyboardInterrupt:
        print("saving", flush=True)
        try:
            time.sleep(float(sys.argv[1]))
            print("saved", flush=True)
        except KeyboardInterrupt:
            print("aborted", flush=True)
            sys.exit(4)
        sys.exit(3)
"""


def interrupt_once(terminal: Terminal) -> None:
    terminal.wait_for_line("up")
    terminal.press(CTRL_C)


def interrupt_twice(terminal: Terminal) -> None:
    interrupt_once(terminal)
    terminal.wait_for_line("saving")
    terminal.press(CTRL_C)


def both_ways(folder: Path, source: str, act: Callable[[Terminal], None], *args: str) -> tuple[End, End, Path]:
    """The same program and the same keys, without rlprof and with it."""
    script = write_program(folder, source)
    target = folder / "signalled.rlprof"
    ends = []
    for command in (bare_command(script, *args), recorded_command(target, [script, *args])):
        terminal = Terminal(command, folder)
        try:
            act(terminal)
        finally:
            ends.append(terminal.end())
    return ends[0], ends[1], target


def test_ctrl_c_ends_the_program_as_it_would_without_rlprof(tmp_path: Path) -> None:
    bare, recorded, target = both_ways(tmp_path, DEFAULT, interrupt_once)
    assert recorded.code == bare.code == -signal.SIGINT
    assert recorded.out == bare.out
    assert recorded.err.count("KeyboardInterrupt") == bare.err.count("KeyboardInterrupt") == 1
    report = read_report(target)
    assert report["run"]["status"] == "interrupted"
    assert calls(report, "work") > 0
    assert not any(operation["open"] for operation in operations(report, "work"))


def test_ctrl_c_that_the_program_handles_is_handled_by_it_alone(tmp_path: Path) -> None:
    bare, recorded, target = both_ways(tmp_path, SAVES, interrupt_once, "0.3")
    assert recorded.code == bare.code == 3
    assert recorded.out == bare.out == "up\nsaving\nsaved\n"
    assert "KeyboardInterrupt" not in recorded.err
    assert calls(read_report(target), "work") > 0


def test_ctrl_c_twice_reaches_the_program_twice(tmp_path: Path) -> None:
    bare, recorded, target = both_ways(tmp_path, SAVES, interrupt_twice, "60")
    assert recorded.code == bare.code == 4
    assert recorded.out == bare.out == "up\nsaving\naborted\n"
    assert calls(read_report(target), "work") > 0


def test_ctrl_c_over_and_over_costs_neither_the_exit_code_nor_the_recording(tmp_path: Path) -> None:
    """They go on while rlprof finishes the recording: too late for the program, and no reason to lose anything."""

    def hammer(terminal: Terminal) -> None:
        interrupt_once(terminal)
        deadline = time.monotonic() + DEADLINE
        while terminal.process.poll() is None and time.monotonic() < deadline:
            terminal.press(CTRL_C)
            time.sleep(0.004)

    source = """
        import signal, sys, time, rlprof

        asked = []
        signal.signal(signal.SIGINT, lambda *_: asked.append(True))
        print("up", flush=True)
        while not asked:
            with rlprof.profile("work"):
                time.sleep(0.01)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("bye", flush=True)
        sys.exit(3)
    """
    bare, recorded, target = both_ways(tmp_path, source, hammer)
    assert recorded.code == bare.code == 3
    assert recorded.out == bare.out == "up\nbye\n"
    assert target.is_file(), recorded.err
    assert calls(read_report(target), "work") > 0


HANDLERS = """
    import os, signal, sys, threading, time, rlprof

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)}
    print(before[signal.SIGTERM], before[signal.SIGUSR1], before[signal.SIGINT] is signal.default_int_handler)

    def handler(number, frame):
        print("handled", signal.Signals(number).name, flush=True)
        if number == signal.SIGTERM:
            sys.exit(9)

    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
        signal.signal(number, handler)
    print("up", flush=True)
    while True:
        with rlprof.profile("work"):
            time.sleep(0.01)
"""


def send_each(terminal: Terminal) -> None:
    terminal.wait_for_line("up")
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM):
        os.kill(terminal.process.pid, number)
        terminal.wait_for_line(f"handled {number.name}")


def test_handlers_of_the_program_stay_and_get_what_is_sent_to_rlprof(tmp_path: Path) -> None:
    bare, recorded, target = both_ways(tmp_path, HANDLERS, send_each)
    assert recorded.code == bare.code == 9
    assert recorded.out == bare.out
    assert bare.out.count("handled") == 4
    assert calls(read_report(target), "work") > 0


def test_sigterm_to_rlprof_ends_the_program_and_both_report_the_signal(tmp_path: Path) -> None:
    def terminate(terminal: Terminal) -> None:
        terminal.wait_for_line("up")
        os.kill(terminal.process.pid, signal.SIGTERM)

    bare, recorded, target = both_ways(tmp_path, DEFAULT, terminate)
    assert recorded.code == bare.code == -signal.SIGTERM
    assert recorded.out == bare.out
    report = read_report(target)
    assert report["run"]["status"] == "killed"


def test_sigterm_to_the_trainer_is_seen_and_the_recording_finished(tmp_path: Path) -> None:
    source = """
        import os, signal, time, rlprof

        end = time.monotonic() + 0.8
        while time.monotonic() < end:
            with rlprof.profile("work"):
                time.sleep(0.005)
        print("up", flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    """
    bare, recorded, target = both_ways(tmp_path, source, lambda terminal: terminal.wait_for_line("up"))
    assert recorded.code == bare.code == -signal.SIGTERM
    report = read_report(target)
    assert report["run"]["status"] == "killed"
    assert calls(report, "work") > 0
    assert target.is_file()


def test_a_program_stopped_and_continued_by_its_terminal_goes_on(tmp_path: Path) -> None:
    """Ctrl-Z stops the whole foreground group; `fg` wakes it again."""
    source = """
        import time, rlprof

        print("up", flush=True)
        for _ in range(40):
            with rlprof.profile("work"):
                time.sleep(0.01)
        print("done", flush=True)
    """

    def stop_and_go(terminal: Terminal) -> None:
        terminal.wait_for_line("up")
        os.killpg(terminal.process.pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.killpg(terminal.process.pid, signal.SIGCONT)

    bare, recorded, target = both_ways(tmp_path, source, stop_and_go)
    assert recorded.code == bare.code == 0
    assert recorded.out == bare.out
    assert calls(read_report(target), "work") == 40


def test_a_signal_that_comes_while_rlprof_is_busy_reaches_the_program_afterwards(tmp_path: Path) -> None:
    """Between two waits rlprof may be printing a summary: a signal that it is not waiting for must not end it."""
    script = write_program(
        tmp_path,
        """
        import os, signal, sys
        from rlprof.cli.supervise import supervise

        PROGRAM = '''
        import os, signal, time
        signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
        open("ready", "w").close()
        time.sleep(30)
        '''
        sent = []

        def busy():
            if os.path.exists("ready") and not sent:
                sent.append(True)
                os.kill(os.getpid(), signal.SIGUSR1)

        print(supervise([sys.executable, "-c", PROGRAM], dict(os.environ), busy, 0.05))
        """,
    )
    done = subprocess.run(
        bare_command(script), cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr


def test_a_ctrl_c_after_the_program_ended_does_not_stop_rlprof_from_finishing(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, signal, sys
        from rlprof.cli.supervise import supervise

        code = supervise([sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ), None, 1.0)
        os.kill(os.getpid(), signal.SIGINT)
        print("finished", code)
        """,
    )
    done = subprocess.run(bare_command(script), capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, done.stdout) == (0, "finished 3\n"), done.stderr
