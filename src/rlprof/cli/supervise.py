"""Running the user's program as a child, so that its end, however it comes, is seen and its recording finished.

The child is the user's command itself, with the same standard streams, process group and signal dispositions. Signals
that a person or a system sends to `rlprof run` reach the child; those the terminal sends to both do not come twice.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

Watch = Callable[[], None]

_PR_SET_PDEATHSIG: Final = 1
_SI_USER: Final = frozenset({0, -6})  # kill and tgkill: sent by somebody, not by the terminal
_FORWARDED: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


def supervise(command: Sequence[str], environment: dict[str, str], watch: Watch | None, every: float) -> int:
    """Run the command to its end; its return code, negative for a signal. `watch` is called about every `every` s."""
    if hasattr(signal, "sigtimedwait"):
        return _supervise_by_signals(command, environment, watch, every)
    return _supervise_plainly(command, environment, watch, every)


def _supervise_by_signals(
    command: Sequence[str], environment: dict[str, str], watch: Watch | None, every: float
) -> int:
    # SIGCHLD is ignored in some containers; ignored, it would never end the wait below.
    inherited = signal.signal(signal.SIGCHLD, lambda *_: None)
    waited = {signal.SIGCHLD, *_FORWARDED}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)

    def in_child() -> None:
        signal.signal(signal.SIGCHLD, inherited)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _end_with_parent()

    try:
        # preexec_fn is unsafe beside threads; this process has none.
        child = subprocess.Popen(command, env=environment, preexec_fn=in_child)  # noqa: PLW1509
        while child.poll() is None:
            news = signal.sigtimedwait(waited, every if watch else 3600.0)
            if news is not None and news.si_signo != signal.SIGCHLD and news.si_code in _SI_USER:
                child.send_signal(news.si_signo)
            if watch is not None:
                watch()
        return child.returncode
    finally:
        # What was meant for the program and came too late for it must not end us before its recording is finished,
        # nor must one more Ctrl-C from now on.
        while signal.sigtimedwait(waited, 0) is not None:
            pass
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """Whoever kills `rlprof run` outright means the training, too: Linux can end it with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _supervise_plainly(command: Sequence[str], environment: dict[str, str], watch: Watch | None, every: float) -> int:
    """Where signals cannot be waited for: Ctrl-C is the child's to handle, and we wait for what it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(command, env=environment)
    while True:
        try:
            return child.wait(timeout=every if watch else None)
        except subprocess.TimeoutExpired:
            if watch is not None:
                watch()


def end_like(code: int) -> None:
    """End this process as the program ended: with its exit code, or by its signal so that a shell sees the same."""
    if code >= 0:
        sys.exit(code)
    number = -code
    sys.stdout.flush()
    sys.stderr.flush()
    if hasattr(signal, "pthread_sigmask"):
        # A shell tells a program that was ended by Ctrl-C from one that handled it by the signal it died of.
        _no_core_dump()
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(1)
    sys.exit(128 + number)


def _no_core_dump() -> None:
    """The program has left its own core dump if it was to; one of rlprof would only be in the way."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (ImportError, ValueError, OSError):
        pass
