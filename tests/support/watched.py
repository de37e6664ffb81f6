"""A program that runs for as long as a test needs it, and `rlprof watch --web` looking at it."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from support.programs import RLPROF, recorded_command, started, wait_for, write_program

#: What a name can do to a page that takes it for markup.
HOSTILE = "</td></script><img src=x onerror='window.hacked=1'><script>window.hacked=1</script>\x1b[31m\ud800"

TRAINS_UNTIL_TOLD = f"""
    import pathlib, time
    from rlprof import count, iteration, profile

    HOSTILE = {HOSTILE!r}

    def {"simulate"}():
        time.sleep(0.02)

    while not pathlib.Path("enough").exists():
        iteration()
        with profile(HOSTILE, phase="env.step"):
            simulate()
        count("env_steps", 10)
        with profile("learn", phase="learn.loss"):
            time.sleep(0.01)
"""


@contextlib.contextmanager
def training(folder: Path) -> Iterator[Path]:
    """A training that goes on until `enough(folder)`; its recording."""
    target = folder / "run.rlprof"
    script = write_program(folder, TRAINS_UNTIL_TOLD, "<img src=x onerror=alert(1)>.py")
    with started(recorded_command(target, [script]), folder) as process:
        wait_for(lambda: shown(target), "a first look")
        yield target
        enough(folder)
        process.wait(60)


def enough(folder: Path) -> None:
    (folder / "enough").touch()


def shown(target: Path) -> bool:
    command = [*RLPROF, "watch", str(target), "--once"]
    return b"env.step" in subprocess.run(command, capture_output=True, check=False).stdout


@contextlib.contextmanager
def page_of(target: Path) -> Iterator[str]:
    """The address of the page, while it is served."""
    with started([*RLPROF, "watch", str(target), "--web"], target.parent) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", line)
        assert found, line or (process.stderr.read() if process.stderr else "")
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
