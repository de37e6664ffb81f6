"""A line on stderr for each trial: what ran, how it went, how long the rest will take."""

from __future__ import annotations

import sys
from statistics import fmean

import click

from rlprof.experiments.arms import ArmsJournal
from rlprof.experiments.journal import Journal
from rlprof.experiments.logbook import WARM_UP, Trial
from rlprof.experiments.rounds import seconds_left
from rlprof.model.units import format_duration, format_percent


def how_it_went(trial: Trial) -> str:
    """How long a trial took, how it ended if not well, and what others did to it."""
    said = [format_duration(trial.seconds)]
    if trial.node is not None:
        said.append(f"on {trial.node}")
    if trial.outcome != "completed":
        said.append(trial.outcome if trial.exit_code is None else f"{trial.outcome}, exit code {trial.exit_code}")
    if trial.other_load is not None and trial.other_load >= 0.05:
        said.append(f"others used {format_percent(trial.other_load)} of the machine")
    return ", ".join(said)


class Progress:
    """Prints as trials begin and end. On a terminal the running trial's line is overwritten by its outcome."""

    def __init__(self, journal: Journal | ArmsJournal) -> None:
        self._journal = journal
        self._live = sys.stderr.isatty()

    def begins(self, pair: int, variant: str) -> None:
        if self._live:
            click.echo(f"\r\x1b[K{self._where(pair, variant)}  running ... {self._left()}", err=True, nl=False)

    def ended(self, trial: Trial) -> None:
        lead = "\r\x1b[K" if self._live else ""
        click.echo(f"{lead}{self._where(trial.pair, trial.variant)}  {how_it_went(trial)}  {self._left()}", err=True)

    def _where(self, pair: int, variant: str) -> str:
        plan = self._journal.plan
        kind, name = ("pair", variant.upper()) if isinstance(self._journal, Journal) else ("round", variant)
        name = f"{name:<{max(map(len, plan.variants))}}"
        width = len(str(plan.runs))
        where = f"{kind} {pair + 1:>{width}}/{plan.runs}"
        return f"{'warm-up':<{len(where)}}  {name}" if pair == WARM_UP else f"{where}  {name}"

    def _left(self) -> str:
        left = _pairs_left(self._journal) if isinstance(self._journal, Journal) else seconds_left(self._journal)
        return f"({format_duration(left)} left at most)" if left else ""


def _pairs_left(journal: Journal) -> float | None:
    took = [t.seconds for t in journal.trials if t.outcome == "completed"]
    if not took:
        return None
    done = sum(t.pair != WARM_UP and not t.superseded for t in journal.trials)
    return max(2 * journal.plan.runs - done, 0) * fmean(took)
