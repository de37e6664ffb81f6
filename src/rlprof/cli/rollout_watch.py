"""The rollout tree while the program runs, every so many rollouts, read from its recording as it grows."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from rlprof.analyse.rollouts import PhaseTotals, count_rollouts, mean_rollouts, phase_totals
from rlprof.cli.watch import show_meanwhile
from rlprof.model.errors import RlprofError
from rlprof.recording import open_recording
from rlprof.recording.place import parts_of


class RolloutWatch:
    """Prints the mean rollout of those since the last time, once there are enough of them.

    A recording is written about once a second, so that rollouts quicker than that come in larger groups.
    """

    def __init__(self, target: Path, every: int) -> None:
        self._parts = parts_of(target)
        self._every = every
        self._next: int | None = every
        self._before: dict[str, PhaseTotals] = {}

    def __call__(self) -> None:
        if self._next is None:
            return
        try:
            self._look(self._next)
        except RlprofError:
            return  # nothing is written yet
        except Exception as error:
            # Whoever watches must never end the program; nor is a fault worth repeating twice a second.
            self._next = None
            with contextlib.suppress(OSError):
                click.echo(f"rlprof: no more rollouts are shown: {error!r}", err=True)

    def _look(self, due: int) -> None:
        recording = open_recording(self._parts)
        ended = count_rollouts(recording)
        if ended < due:
            return
        from rlprof.analyse.report import build_report
        from rlprof.render.rollouts import rollout_lines

        now = phase_totals(build_report(recording), recording)
        for tree in mean_rollouts(now, self._before):
            show_meanwhile("\n".join(rollout_lines(tree)) + "\n")
        self._before = now
        self._next = (ended // self._every + 1) * self._every
