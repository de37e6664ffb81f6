"""One trial: a program run as `rlprof run` would, and how it ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from rlprof.experiments import load
from rlprof.experiments.interruption import interruption
from rlprof.experiments.logbook import Outcome
from rlprof.experiments.one_at_a_time import turn_of_this_trial

#: How long a program that was told to end may take for it before it is killed.
GRACE_SECONDS: Final = 10.0
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a trial finds around it, beside what this process has."""

    environment: Mapping[str, str] = field(default_factory=dict)
    affinity: tuple[int, ...] = ()  # the processors it may use; none named are all


@dataclass(frozen=True, slots=True)
class Ended:
    """How a trial ended, how long it took, and what others used of the machine meanwhile."""

    outcome: Outcome
    exit_code: int | None
    seconds: float
    other_load: float | None


def run_recorded(
    words: Iterable[str], target: Path, timeout: float | None, surroundings: Surroundings | None = None
) -> Ended:
    """Run `rlprof run WORDS` into a recording and wait for its end. What it prints goes into a file beside that."""
    interruption.raise_if_asked()
    command = [sys.executable, "-m", "rlprof", "run", "--quiet", "--no-html", "--out", str(target), *words]
    with turn_of_this_trial(), open(target.with_suffix(".log"), "wb") as log:
        before = load.now()
        outcome, code = _wait(_start(command, log, surroundings or Surroundings()), timeout)
        after = load.now()
    return Ended(outcome, code, after.clock - before.clock, load.other_share(before, after))


def _start(command: list[str], log: IO[bytes], surroundings: Surroundings) -> subprocess.Popen[bytes]:
    def prepare() -> None:
        _end_with_parent()
        if surroundings.affinity:
            os.sched_setaffinity(0, surroundings.affinity)

    # In a session of its own: Ctrl-C is for the experiment, which ends its trial in order.
    return subprocess.Popen(
        command,
        env={**os.environ, **surroundings.environment},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=prepare if sys.platform == "linux" else None,  # noqa: PLW1509 (no threads here)
    )


def _end_with_parent() -> None:
    """A trial that outlives a killed experiment would run beside the next one."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(child: subprocess.Popen[bytes], timeout: float | None) -> tuple[Outcome, int | None]:
    try:
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(child)
        return "timeout", None
    except KeyboardInterrupt:
        _end(child)
        return "interrupted", None
    except BaseException:
        _end(child)
        raise
    return ("completed" if code == 0 else "failed"), code


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ask it to end, so that its recording is finished; then make it, with everything it started."""
    deadline = time.monotonic() + GRACE_SECONDS
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGTERM)
    while child.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(KeyboardInterrupt):  # impatience does not leave a training behind that nobody sees
            time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
