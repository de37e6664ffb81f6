"""`rlprof quickwins`: which harmless cures make this program faster, measured from outside?"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from rlprof.cli.duration import parse_duration
from rlprof.cli.percent import parse_share
from rlprof.cli.report import OUTPUT, write_output
from rlprof.cli.trial_progress import Progress
from rlprof.cli.trials import begun, checked_words, ended_as_by_ctrl_c, free_directory, seed_by_chance
from rlprof.experiments.arms import ArmsJournal, Conduct, open_arms
from rlprof.experiments.logbook import FILE, WARM_UP
from rlprof.experiments.quickwins import KIND, MOST_ROUNDS, TOGETHER, Trying, plan_of
from rlprof.experiments.quickwins_result import quickwins_of, together_of, tried_cures, winners_of
from rlprof.model.errors import BadOption
from rlprof.model.quickwins import Cure, QuickWins
from rlprof.model.units import format_duration

EPILOG = """\b
Examples:
  rlprof quickwins -- train.py --steps 50000
  rlprof quickwins --budget 30m --all -- -m my.train --seed 1
  rlprof quickwins --only threads=1 --only optimizer=fused -- train.py
  rlprof quickwins --resume rlprof-runs/quickwins-20260105-100000
  rlprof quickwins --list

A run of half a minute is long enough for most programs. Give it a fixed seed: then results are held against those of
the program as it is, down to the bits of its weights."""


@click.command(epilog=EPILOG, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- SCRIPT|-m MODULE [ARGS]...")
@click.option("--budget", default="10m", metavar="TIME", help="How long trials may take in all: 90s, 10m, 2h [10m].")
@click.option("--all", "everything", is_flag=True, help="Try cures that may change results, too.")
@click.option("--only", multiple=True, metavar="CURE", help="Try this one, whatever it changes; may be given again.")
@click.option("--list", "listing", is_flag=True, help="List the cures and end.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep trials there [rlprof-runs/…].")
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR", help="Go on with what is in DIR.")
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="End a trial that takes longer.")
@click.option("--margin", default="3%", metavar="SHARE", help="Gains below this count as none [3%].")
@click.option("--seed", type=int, help="Of the order within rounds [by chance].")
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the result as JSON; - is stdout.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write it as Markdown; - is stdout.")
def quickwins(
    command: tuple[str, ...],
    budget: str,
    everything: bool,
    only: tuple[str, ...],
    listing: bool,
    out: Path | None,
    resume: Path | None,
    timeout: float | None,
    margin: str,
    seed: int | None,
    json_file: str | None,
    markdown_file: str | None,
) -> None:
    """Try cures on a program from outside, and measure each against the program as it is.

    Nothing in the program changes. Every cure that has something to do in it runs in rounds with the bare program;
    what gains is shown with its interval, whether results stayed the same, and the lines that make it permanent.
    """
    from rlprof.cli.cures import candidates, cure_of, list_cures

    if listing:
        click.echo(list_cures())
        return
    seconds = parse_duration(budget)
    if resume is not None:
        if command or out is not None or only or everything:
            raise BadOption("--resume goes on with the program and the cures of the experiment: leave out the others")
        journal = open_arms(resume, KIND)
        cures = [cure_of(arm.treatments[-1]) for arm in journal.plan.arms[1:]]
    else:
        words = checked_words(command, "the command")
        cures = [cure_of(text) for text in only] if only else candidates(_cores(), everything=everything)
        order = seed if seed is not None else seed_by_chance()
        conduct = Conduct(MOST_ROUNDS, order, timeout=timeout, early_stop=True, margin=parse_share(margin))
        settings = {"also_other_results": everything or bool(only), "also_diagnoses": bool(only)}
        journal = begun(ArmsJournal(free_directory(out, KIND), plan_of(words, cures, conduct, settings)))
    found, interrupted = _try(Trying(journal, seconds, _BudgetProgress, together=_begun_together(journal)), cures)
    _show(found, json_file, markdown_file)
    if interrupted:
        sys.exit(130)


def _cores() -> list[int]:
    """The cores that trials may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class _BudgetProgress(Progress):
    """What is left is told by the budget: how many rounds that makes, nobody knows before arms are dropped."""

    def __init__(self, journal: ArmsJournal, left: Callable[[], float]) -> None:
        super().__init__(journal)
        self._seconds_left = left

    def _where(self, pair: int, variant: str) -> str:
        where = "warm-up" if pair == WARM_UP else f"round {pair + 1}"
        return f"{where:<8}  {variant:<{max(map(len, self._journal.plan.variants))}}"

    def _left(self) -> str:
        left = self._seconds_left()
        return f"({format_duration(left)} left)" if left > 0 else ""


def _begun_together(journal: ArmsJournal) -> ArmsJournal | None:
    directory = journal.directory / TOGETHER
    return open_arms(directory, KIND) if (directory / FILE).exists() else None


def _try(trying: Trying, cures: Sequence[Cure]) -> tuple[QuickWins, bool]:
    """Run what is missing, then judge it; whether somebody broke it off."""
    journal = trying.journal
    where = shlex.quote(str(journal.directory))
    settings = journal.plan.settings
    choose = partial(
        winners_of,
        also_other_results=bool(settings.get("also_other_results")),
        also_diagnoses=bool(settings.get("also_diagnoses")),
    )
    interrupted, why_not = False, None
    try:
        with ended_as_by_ctrl_c():
            trying.warm_up()
            _say_what_to_expect(trying, len(cures))
            trying.single_cures()
            winners = choose(tried_cures(trying, cures))
            if len(winners) > 1:
                why_not = trying.combine(winners)
    except KeyboardInterrupt:
        interrupted = True
        click.echo(f"\nrlprof: interrupted; what was measured is kept: rlprof quickwins --resume {where}", err=True)
    click.echo(err=True)
    tried = tried_cures(trying, cures)
    together = together_of(trying, choose(tried), why_not)
    return quickwins_of(trying, tried, together, journal.plan.arms[0].command), interrupted


def _say_what_to_expect(trying: Trying, cures: int) -> None:
    trials = trying.journal.trials
    took = [trial.seconds for trial in trials if trial.outcome == "completed"]
    if not took or any(trial.pair != WARM_UP for trial in trials):
        return
    rounds = int(trying.budget_seconds / (max(took) * (cures + 1)))
    click.echo(
        f"rlprof: a run takes {format_duration(max(took))}; {format_duration(trying.budget_seconds)} are enough for "
        f"{rounds} rounds of {cures} cures, more once some are dropped (a verdict takes 5)",
        err=True,
    )


def _show(found: QuickWins, json_file: str | None, markdown_file: str | None) -> None:
    if json_file is not None:
        from rlprof.render.json import render_json

        write_output(json_file, render_json(found))
    if markdown_file is not None:
        from rlprof.render.quickwins_markdown import render_quickwins_markdown

        write_output(markdown_file, render_quickwins_markdown(found))
    if "-" not in (json_file, markdown_file):
        from rich.console import Console

        from rlprof.render.quickwins_terminal import render_quickwins

        render_quickwins(found, Console())
