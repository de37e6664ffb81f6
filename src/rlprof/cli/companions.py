"""What goes along with a program that `rlprof run` records: a screen, loggers, metrics.

Everything happens in rlprof's own process, in a thread beside the one that waits for the program, and reads the
recording as it grows. The program does nothing for it, and is not held up by it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from rlprof.cli.look import Look, look_at, pause_after
from rlprof.model.clean import clean_text
from rlprof.model.errors import RlprofError
from rlprof.recording.place import parts_of

EVERY_SECONDS: Final = 1.0


class Companion:
    """One that goes along. All methods are called from one thread at a time, and never before the program runs."""

    name = "companion"
    #: Whether `see` wants to be called; one that answers questions looks for itself when it is asked.
    looks = True

    def begin(self, parts: Path) -> None:
        """The program runs, and its recording grows here."""

    def see(self, look: Look) -> None:
        """What the recording says now, about once a second."""

    def see_last(self, look: Look) -> None:
        """What it says after the program's end."""
        self.see(look)

    def close(self) -> None:
        """The program has ended."""


class Companions:
    """Called while the program runs, and closed after it: see `supervise`."""

    def __init__(self, target: Path, companions: Sequence[Companion], every: float = EVERY_SECONDS) -> None:
        self._parts = parts_of(target)
        self._every = every
        self._members = list(companions)
        self._ended = threading.Event()
        # A thread before the program is started would be in the way of starting it: see supervise.
        self._thread: threading.Thread | None = None

    def __call__(self) -> None:
        if self._thread is None and self._members:
            self._thread = threading.Thread(target=self._follow, name="rlprof-companions", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Show all of them the end, and let them go."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        else:
            self._each(lambda member: member.begin(self._parts))
        if any(member.looks for member in self._members):
            with contextlib.suppress(RlprofError):  # nothing was recorded
                look = look_at(self._parts)
                self._each(lambda member: member.see_last(look))
        self._each(lambda member: member.close())

    def _follow(self) -> None:
        self._each(lambda member: member.begin(self._parts))
        pause = self._every
        while not self._ended.wait(pause):
            if not any(member.looks for member in self._members):
                pause = 3600.0
                continue
            started = time.monotonic()
            try:
                look = look_at(self._parts)
            except RlprofError:
                continue  # nothing is written yet
            self._each(lambda member, look=look: member.see(look))  # type: ignore[misc]
            pause = pause_after(time.monotonic() - started, self._every)

    def _each(self, call: Callable[[Companion], None]) -> None:
        """Whoever goes along must never end the program; nor is a fault worth repeating every second."""
        for member in list(self._members):
            try:
                call(member)
            except Exception as error:
                self._members.remove(member)
                with contextlib.suppress(OSError):
                    click.echo(f"rlprof: no more {member.name}: {clean_text(repr(error), 500)}", err=True)
