"""`rlprof sweep`: which setting is fastest, how does throughput scale, and where does more stop paying?"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rlprof.cli.percent import parse_share
from rlprof.cli.report import OUTPUT, write_output
from rlprof.cli.trial_progress import Progress
from rlprof.cli.trials import begun, checked_words, ended_as_by_ctrl_c, free_directory, seed_by_chance
from rlprof.cli.where import cluster_of, on_option
from rlprof.experiments.arms import ArmsJournal, ArmsPlan, Conduct, open_arms
from rlprof.experiments.rounds import Drop, Enough, run_rounds
from rlprof.experiments.sweep_settings import Grid, arms_of, check_settings, parse_parameters
from rlprof.model.errors import BadOption
from rlprof.model.sweep import Sweep
from rlprof.record.secrets import mask_arguments
from rlprof.recording.place import RUNS_DIRECTORY

KIND = "sweep"
EPILOG = """\b
Examples:
  rlprof sweep -p envs=1,8,32,128 -- train.py --envs {envs}
  rlprof sweep -p envs=1,4,16 -p threads=1,2 --runs 5 --confirm -- -m my.train --envs {envs}
  rlprof sweep -p lr=1e-3,1e-4 -p env:OMP_PROC_BIND=true,false --one-at-a-time -- train.py --lr {lr}
  rlprof sweep --resume rlprof-runs/sweep-…           go on after Ctrl-C, or show it again
  rlprof sweep --resume DIR --runs 10 --confirm       more rounds, then the best against its neighbours
  rlprof sweep --resume DIR --confirm-runs 40         more pairs where ten could not tell
  rlprof sweep --resume DIR --json sweep.json --chart sweep.svg
  rlprof sweep -p envs=1,8,32 --runs 10 --on ray -- train.py --envs {envs}     on the nodes of a Ray cluster

{NAME} in the command is replaced by each value of -p NAME=... . These need no placeholder: threads=1,2 (the variables
that OpenMP, MKL, OpenBLAS and torch read), affinity=0,0-1,0+2 (processors), env:NAME=a,b (environment variables).
Values that hold commas are parted by semicolons: -p 'layers=64,64;128,128'."""


@dataclass(frozen=True)
class _Asked:
    """What was said about running the sweep."""

    parameters: tuple[str, ...]
    one_at_a_time: bool
    runs: int | None
    out: Path | None
    resume: Path | None
    timeout: float | None
    budget: float | None
    warm_up_runs: int
    seed: int | None
    margin: str
    on: str
    command: tuple[str, ...]


@click.command(epilog=EPILOG, context_settings={"allow_interspersed_args": False})
@click.option("-p", "--param", "parameters", multiple=True, metavar="NAME=V1,V2", help="A parameter and its values.")
@click.option(
    "--one-at-a-time", is_flag=True, help="Vary one, keep the others at their first value [all combinations]."
)
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Runs of each setting, in random order [3].")
@click.option("--budget", type=click.FloatRange(min=1), metavar="S", help="Begin no round that would end later.")
@click.option("--confirm", is_flag=True, help="Then run the best against its neighbours: proven, or a tie?")
@click.option("--confirm-runs", type=click.IntRange(2), metavar="N", help="The same, with N pairs at most [10].")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=f"Keep trials there [{RUNS_DIRECTORY}/…].")
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR", help="Go on with the sweep in DIR.")
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="End a trial that takes longer.")
@click.option("--warm-up-runs", type=click.IntRange(0), default=1, metavar="N", help="Runs that do not count [1].")
@click.option("--seed", type=int, help="Of the order within rounds [by chance].")
@click.option("--margin", default="3%", metavar="SHARE", help="Differences below this count as none [3%].")
@on_option
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the sweep as JSON; - is stdout.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write it as Markdown; - is stdout.")
@click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curves: .svg, .png or .pdf.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[--] SCRIPT [ARGS]...")
def sweep(
    confirm: bool,
    confirm_runs: int | None,
    json_file: str | None,
    markdown_file: str | None,
    chart: Path | None,
    **asked: object,
) -> None:
    """Which setting is fastest, how does throughput scale, and where does more stop paying?

    Runs every setting of a grid in rounds, each round in a random order, one trial at a time. Shows steps per second
    with an interval and the phases of each, fits a law of scaling to numbers, and says which setting to use. Everything
    is saved after every trial.
    """
    if chart is not None:
        from rlprof.render.sweep_chart import chart_format

        chart_format(chart)
    told = _Asked(**asked)  # type: ignore[arg-type]  # click gives what the options above say
    journal = _resumed(told) if told.resume is not None else _begun(told)
    found, interrupted = _run(journal, told, confirm=confirm or confirm_runs is not None, confirm_runs=confirm_runs)
    _show(found, json_file, markdown_file, chart)
    if interrupted:
        sys.exit(130)


def _begun(asked: _Asked) -> ArmsJournal:
    grid = Grid(parse_parameters(asked.parameters), asked.one_at_a_time)
    if not asked.command:
        raise BadOption("which program? For example: rlprof sweep -p envs=1,8,32 -- train.py --envs {envs}")
    arms = arms_of(grid, checked_words(asked.command, "the command"))
    if asked.on == "here":
        _check_processors({number for arm, _ in arms.values() for number in arm.affinity})
    conduct = Conduct(
        runs=asked.runs or 3,
        seed=asked.seed if asked.seed is not None else seed_by_chance(),
        warm_up_runs=asked.warm_up_runs,
        timeout=asked.timeout,
        margin=parse_share(asked.margin),
    )
    noted = {
        "parameters": {name: list(values) for name, values in grid.parameters.items()},
        "one_at_a_time": grid.one_at_a_time,
        "settings": {name: values for name, (_, values) in arms.items()},
        "command": shlex.join(mask_arguments(list(asked.command))),
    }
    plan = ArmsPlan(KIND, tuple(arm for arm, _ in arms.values()), conduct, noted)
    return begun(ArmsJournal(free_directory(asked.out, KIND), plan))


def _check_processors(wanted: set[int]) -> None:
    if not wanted:
        return
    if not hasattr(os, "sched_getaffinity"):
        raise BadOption("-p affinity needs Linux, which alone lets a program choose its processors this way")
    missing = wanted - os.sched_getaffinity(0)
    if missing:
        there = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
        raise BadOption(f"-p affinity names processor {min(missing)}, but there are only {there}")


def _resumed(asked: _Asked) -> ArmsJournal:
    assert asked.resume is not None
    if asked.parameters or asked.command or asked.out is not None:
        raise BadOption("--resume goes on with the settings of the sweep: leave out -p, --out and the command")
    journal = open_arms(asked.resume, KIND)
    check_settings(journal)
    conduct = journal.plan.conduct
    conduct = replace(conduct, runs=asked.runs or conduct.runs, timeout=asked.timeout or conduct.timeout)
    journal.plan = replace(journal.plan, conduct=conduct)
    return journal


def _run(journal: ArmsJournal, asked: _Asked, *, confirm: bool, confirm_runs: int | None) -> tuple[Sweep, bool]:
    """Run what is missing, then look at it; whether somebody broke it off."""
    from rlprof.experiments.confirmation import confirmation_of, latest_confirmation
    from rlprof.experiments.rounds import Budget
    from rlprof.experiments.sweep_result import How, sweep_of

    interrupted, stopped = False, None
    budget = Budget(asked.budget)
    try:
        with ended_as_by_ctrl_c():
            if _run_rounds(journal, asked.on, enough=budget):
                stopped = budget.said or "no setting is left that works"
            if confirm:
                _confirm(journal, asked.on, confirm_runs)
    except KeyboardInterrupt:
        interrupted, stopped = True, "interrupted"
    where = shlex.quote(str(journal.directory))
    if interrupted:
        click.echo(f"\nrlprof: interrupted; what was measured is kept: rlprof sweep --resume {where}", err=True)
        if not any(trial.counts for trial in journal.trials):
            sys.exit(130)
    else:
        click.echo(f"rlprof: trials and their recordings are in {where}", err=True)
    click.echo(err=True)
    confirming = latest_confirmation(journal)
    settings = journal.plan.settings["settings"]
    found = confirmation_of(confirming, settings) if confirming is not None else None
    return sweep_of(journal, How(str(journal.plan.settings.get("command", "")), stopped, found)), interrupted


def _run_rounds(journal: ArmsJournal, on: str, *, drop: Drop | None = None, enough: Enough | None = None) -> bool:
    """Run what is missing where it was asked for; whether it ended before all rounds were run."""
    cluster = cluster_of(on)
    if cluster is None:
        return run_rounds(journal, Progress(journal), drop=drop, enough=enough)
    from rlprof.experiments.cluster_rounds import run_rounds_on

    return run_rounds_on(cluster, journal, Progress(journal), drop=drop, enough=enough)


def _confirm(journal: ArmsJournal, on: str, runs: int | None) -> None:
    """Run the best setting against its neighbours, until that is clear or the rounds are used up."""
    from rlprof.experiments.arm_comparisons import Readings, settled_arms
    from rlprof.experiments.confirmation import confirmation_journal, plan_confirmation
    from rlprof.experiments.sweep_result import best_setting, measured_rates

    rates = measured_rates(journal)
    best = best_setting(journal, rates)
    if best is None:
        raise BadOption("no setting completed a run, so that there is none to confirm")
    plan = plan_confirmation(journal, best, [name for name in rates if name in journal.active()], runs)
    confirming = begun(confirmation_journal(journal, plan))
    click.echo(f"rlprof: confirming {best} against {', '.join(plan.variants[1:])}", err=True)
    readings = Readings(confirming)
    _run_rounds(confirming, on, drop=lambda so_far: settled_arms(so_far, readings))


def _show(found: Sweep, json_file: str | None, markdown_file: str | None, chart: Path | None) -> None:
    """Write what was asked for; on the terminal where nothing was."""
    if json_file is not None:
        from rlprof.render.json import render_json

        write_output(json_file, render_json(found))
    if markdown_file is not None:
        from rlprof.render.sweep_markdown import render_sweep_markdown

        write_output(markdown_file, render_sweep_markdown(found))
    if chart is not None:
        from rlprof.render.sweep_chart import draw_sweep

        draw_sweep(found, chart)
    if "-" not in (json_file, markdown_file):
        from rich.console import Console

        from rlprof.render.sweep_terminal import render_sweep

        render_sweep(found, Console())
