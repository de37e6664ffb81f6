"""Short tables while the program runs, read from its recording as it grows; the program does nothing for them."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import click

from rlprof.analyse.throughput import ENV_STEPS, counter_total
from rlprof.model.errors import RlprofError
from rlprof.recording import open_recording
from rlprof.recording.place import parts_of


def show_meanwhile(text: str) -> None:
    """Print on standard error while the program runs; a progress bar that it draws there makes room."""
    from rlprof.render.sections import encodable

    erase = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(erase + encodable(text, sys.stderr.encoding or "utf-8"), err=True)


class SummaryWatch:
    """Prints a summary whenever enough env steps or seconds have gone by since the last one."""

    def __init__(self, target: Path, every_steps: int | None, every_seconds: float | None) -> None:
        self._parts = parts_of(target)
        self._every_steps = every_steps
        self._every_seconds = every_seconds
        self._next_steps = every_steps
        self._next_time = time.monotonic() + (every_seconds or 0.0)

    def __call__(self) -> None:
        due = self._every_seconds is not None and time.monotonic() >= self._next_time
        if not due and self._next_steps is None:
            return
        try:
            self._look(due)
        except RlprofError:
            return  # nothing is written yet
        except Exception as error:
            # Whoever watches must never end the program; nor is a fault worth repeating twice a second.
            self._every_seconds = self._every_steps = self._next_steps = None
            with contextlib.suppress(OSError):
                click.echo(f"rlprof: no more summaries: {error!r}", err=True)

    def _look(self, due: bool) -> None:
        recording = open_recording(self._parts)
        steps = counter_total(recording, ENV_STEPS) or 0.0
        reached = self._next_steps is not None and steps >= self._next_steps
        if not due and not reached:
            return
        from rlprof.analyse.report import build_report
        from rlprof.render.summary import render_summary

        show_meanwhile(render_summary(build_report(recording)))
        if self._every_seconds is not None:
            self._next_time = time.monotonic() + self._every_seconds
        if self._every_steps is not None:
            self._next_steps = (int(steps) // self._every_steps + 1) * self._every_steps
