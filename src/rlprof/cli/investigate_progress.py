"""What goes on in an investigation, on stderr: a line for each run, and how long the rest takes at most."""

from __future__ import annotations

import sys

import click

from rlprof.cli.trial_progress import how_it_went
from rlprof.experiments.arms import ArmsJournal
from rlprof.experiments.logbook import WARM_UP, Trial
from rlprof.experiments.rounds import seconds_left
from rlprof.model.clean import clean_text
from rlprof.model.units import format_duration


class InvestigationProgress:
    """Prints as tests and runs begin and end. On a terminal the line of a running one is overwritten by its outcome."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._journal: ArmsJournal | None = None
        self._behind = 0.0

    def test_begins(self, name: str, journal: ArmsJournal, seconds_behind: float) -> None:
        self._journal, self._behind = journal, seconds_behind
        click.echo(f"{clean_text(name, 80)}:", err=True)

    def begins(self, pair: int, variant: str) -> None:
        if self._live:
            click.echo(f"{self._where(pair, variant)}  running ... {self._left()}", err=True, nl=False)

    def ended(self, trial: Trial) -> None:
        lead = "\r\x1b[K" if self._live else ""
        click.echo(f"{lead}{self._where(trial.pair, trial.variant)}  {how_it_went(trial)}  {self._left()}", err=True)

    def _where(self, pair: int, variant: str) -> str:
        if pair == WARM_UP or self._journal is None:
            return f"  warm-up   {variant}"
        runs = self._journal.plan.runs
        return f"  pair {pair + 1:>{len(str(runs))}}/{runs}  {variant:<8}"

    def _left(self) -> str:
        left = (seconds_left(self._journal) or 0.0) + self._behind if self._journal is not None else 0.0
        return f"({format_duration(left)} left at most)" if left else ""
