"""A line on stderr for each trial: what ran, how it went, how long the rest will take."""

from __future__ import annotations

import sys
import time
from statistics import fmean

import click

from rlprof.experiments.journal import Journal, Trial
from rlprof.experiments.schedule import Variant
from rlprof.model.units import format_duration, format_percent


class Progress:
    """Prints as trials begin and end. On a terminal the running trial's line is overwritten by its outcome."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._live = sys.stderr.isatty()
        self._started = time.monotonic()

    def begins(self, pair: int, variant: Variant) -> None:
        if self._live:
            click.echo(f"{self._where(pair, variant)}  running ... {self._left()}", err=True, nl=False)

    def ended(self, trial: Trial) -> None:
        said = [format_duration(trial.seconds)]
        if trial.outcome != "completed":
            said.append(trial.outcome if trial.exit_code is None else f"{trial.outcome}, exit code {trial.exit_code}")
        if trial.other_load is not None and trial.other_load >= 0.05:
            said.append(f"others used {format_percent(trial.other_load)} of the machine")
        lead = "\r\x1b[K" if self._live else ""
        click.echo(f"{lead}{self._where(trial.pair, trial.variant)}  {', '.join(said)}  {self._left()}", err=True)

    def _where(self, pair: int, variant: Variant) -> str:
        if pair < 0:
            return f"warm-up   {variant.upper()}"
        width = len(str(self._journal.plan.runs))
        return f"pair {pair + 1:>{width}}/{self._journal.plan.runs}  {variant.upper()}"

    def _left(self) -> str:
        took = [t.seconds for t in self._journal.trials if t.outcome == "completed"]
        if not took:
            return ""
        done = sum(t.pair >= 0 and not t.superseded for t in self._journal.trials)
        left = 2 * self._journal.plan.runs - done
        return f"({format_duration(left * fmean(took))} left at most)" if left > 0 else ""
