"""`rlprof compare`: is B faster than A, where, and can we tell at all?"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import click

from rlprof.cli.charts import HELP as CHARTS_HELP
from rlprof.cli.charts import check_place, write_comparison_charts
from rlprof.cli.percent import parse_share
from rlprof.cli.recording_sets import is_experiment, is_set, open_set, title_of
from rlprof.cli.report import OUTPUT, write_output
from rlprof.cli.trial_progress import Progress
from rlprof.cli.trials import begun, command_words, ended_as_by_ctrl_c, free_directory, seed_by_chance
from rlprof.cli.where import cluster_of, on_option
from rlprof.experiments.compare import Circumstances
from rlprof.experiments.journal import Journal, Plan, open_journal
from rlprof.model.comparison import Comparison
from rlprof.model.errors import BadOption
from rlprof.recording import open_recording
from rlprof.recording.place import RUNS_DIRECTORY

EPILOG = """\b
Examples:
  rlprof compare --a "train.py --turbo" --b "train.py --no-turbo" --runs 10
  rlprof compare --a "-m my.train" --b "-m my.train --envs 16" --out exp --timeout 600
  rlprof compare --resume exp               go on after Ctrl-C; add --runs 20 for more
  rlprof compare exp                        show it again
  rlprof compare --a "train.py" --b "train.py --turbo" --on ray         on the nodes of a Ray cluster
  rlprof compare before.rlprof after.rlprof
  rlprof compare a1.rlprof a2.rlprof -- b1.rlprof b2.rlprof
  rlprof compare before/ after/ --json comparison.json --markdown comparison.md
  rlprof compare before/ after/ --html comparison.html
  rlprof compare run.rlprof --by turbo      batches of one run: rlprof.alternate("turbo", [False, True])

A is what you have, B the change; a ratio above 1 says that B is faster. Fewer than 5 pairs give no verdict."""


class _CompareCommand(click.Command):
    """Keeps the place of `--`, which parts the recordings of A from those of B."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            behind = tuple(takewhile(lambda word: not word.startswith("-"), args[at + 1 :]))
            ctx.meta["rlprof.b"] = behind
            args = [*args[:at], *args[at + 1 + len(behind) :]]
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class _Trials:
    """What was said about running commands."""

    a: str | None
    b: str | None
    runs: int | None
    out: Path | None
    resume: Path | None
    timeout: float | None
    warm_up_runs: int
    early_stop: bool
    seed: int | None
    on: str


@click.command(cls=_CompareCommand, epilog=EPILOG)
@click.argument("recordings", nargs=-1, type=click.Path())
@click.option("--a", metavar="COMMAND", help="The baseline: a script or -m MODULE with its arguments.")
@click.option("--b", metavar="COMMAND", help="The candidate.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Pairs of runs, at most [10].")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=f"Keep trials there [{RUNS_DIRECTORY}/…].")
@click.option("--resume", type=click.Path(path_type=Path), metavar="DIR", help="Go on with the experiment in DIR.")
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="End a trial that takes longer.")
@click.option("--warm-up-runs", type=click.IntRange(0), default=1, metavar="N", help="Runs that do not count [1].")
@click.option("--early-stop/--no-early-stop", default=True, help="Stop once the answer is clear [on].")
@click.option("--seed", type=int, help="Of the order within pairs [by chance].")
@on_option
@click.option("--by", metavar="NAME", help="Compare the values that alternate(NAME, ...) took within one recording.")
@click.option("--margin", default="3%", metavar="SHARE", help="Smaller differences count as none unless proven [3%].")
@click.option("--force", is_flag=True, help="Compare even what was measured under different conditions.")
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the comparison as JSON; - is stdout.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write it as Markdown; - is stdout.")
@click.option("--charts", metavar="FILE|DIR/", help=CHARTS_HELP)
@click.option("--html", "html_file", metavar="FILE", type=OUTPUT, help="Write it as a page for a browser; - is stdout.")
@click.pass_context
def compare(
    ctx: click.Context,
    recordings: tuple[str, ...],
    a: str | None,
    b: str | None,
    runs: int | None,
    out: Path | None,
    resume: Path | None,
    timeout: float | None,
    warm_up_runs: int,
    early_stop: bool,
    seed: int | None,
    on: str,
    by: str | None,
    margin: str,
    force: bool,
    json_file: str | None,
    markdown_file: str | None,
    charts: str | None,
    html_file: str | None,
) -> None:
    """Is B faster than A, where, and can we tell at all?

    Compares two commands, which are run in turns, or recordings that exist already, or the batches of one recording.
    The unit is the run (or the batch), never the iteration; what cannot be told is called so.
    """
    if charts is not None:
        check_place(charts)
    behind: tuple[str, ...] | None = ctx.meta.get("rlprof.b")
    trials = _Trials(a, b, runs, out, resume, timeout, warm_up_runs, early_stop, seed, on)
    share = parse_share(margin)
    interrupted = False
    if resume is not None or a is not None or b is not None:
        if recordings or behind or by:
            raise BadOption("either commands (--a, --b, --resume) or recordings, not both")
        found, interrupted = _by_running(trials, share, force)
    elif by is not None:
        found = _by_name(recordings, behind, by, share)
    else:
        found = _by_reading(recordings, behind, share, force)
    if charts is not None:
        write_comparison_charts(charts, found)  # first: who reads the terminal's output may have gone by its end
    show(found, json_file, markdown_file, html_file)
    if interrupted:
        sys.exit(130)


def show(found: Comparison, json_file: str | None, markdown_file: str | None, html_file: str | None = None) -> None:
    """Write what was asked for; on the terminal where nothing was."""
    if json_file is not None:
        from rlprof.render.json import render_json

        write_output(json_file, render_json(found))
    if markdown_file is not None:
        from rlprof.render.comparison_markdown import render_comparison_markdown

        write_output(markdown_file, render_comparison_markdown(found))
    if html_file is not None:
        from rlprof.cli.pages import comparison_page

        write_output(html_file, comparison_page(found))
    if "-" not in (json_file, markdown_file, html_file):
        from rich.console import Console

        from rlprof.render.comparison_terminal import render_comparison

        render_comparison(found, Console())


def _by_reading(names: tuple[str, ...], behind: tuple[str, ...] | None, margin: float, force: bool) -> Comparison:
    from rlprof.experiments.recorded_pairs import match
    from rlprof.experiments.trial_pairs import SettledBySpeed, Standing, compare_trials

    if behind is None and len(names) == 1 and is_experiment(names[0]):
        journal = open_journal(Path(names[0]))
        stopped = not journal.ended_at and SettledBySpeed()(journal)
        standing = Standing(stopped, interrupted=not journal.ended_at and not stopped, force=force)
        return compare_trials(journal, _titles(journal.plan), standing)
    first, second = (names, behind) if behind is not None else (names[:1], names[1:])
    if behind is None and len(names) != 2:
        raise BadOption(
            "name two recordings, two folders of them, or two lists: rlprof compare a1 a2 -- b1 b2"
            if names
            else 'nothing to compare; for example: rlprof compare --a "train.py" --b "train.py --turbo" --runs 10'
        )
    if not first or not second:
        raise BadOption("one side has no recordings: rlprof compare a1 a2 -- b1 b2")
    how = Circumstances(margin=margin, forced=force)
    return match(open_set(first), open_set(second), (title_of(first), title_of(second)), how).compare()


def _by_name(names: tuple[str, ...], behind: tuple[str, ...] | None, by: str, margin: float) -> Comparison:
    from rlprof.experiments.batches import compare_batches

    if len(names) != 1 or behind or is_set(names[0]):
        raise BadOption("--by looks into one recording: rlprof compare run.rlprof --by NAME")
    return compare_batches(open_recording(names[0]), by, margin)


# --- running commands -------------------------------------------------------------------------------------------------


def _by_running(trials: _Trials, margin: float, force: bool) -> tuple[Comparison, bool]:
    """Run what is missing, then compare; whether somebody broke it off."""
    from rlprof.experiments.trial_pairs import Standing, compare_trials

    journal = _resumed(trials) if trials.resume is not None else _begun(trials, margin)
    interrupted = stopped = False
    try:
        with ended_as_by_ctrl_c():
            stopped = _run_pairs(journal, trials.on)
        if not stopped:
            journal.ended_at.append(len(journal.complete_pairs()))
            journal.save()
    except KeyboardInterrupt:
        interrupted = True
    where = shlex.quote(str(journal.directory))
    if interrupted:
        click.echo(f"\nrlprof: interrupted; what was measured is kept: rlprof compare --resume {where}", err=True)
        if not journal.complete_pairs():
            sys.exit(130)
    else:
        click.echo(f"rlprof: trials and their recordings are in {where}", err=True)
    click.echo(err=True)
    standing = Standing(stopped_early=stopped, interrupted=interrupted, force=force)
    return compare_trials(journal, _titles(journal.plan), standing), interrupted


def _run_pairs(journal: Journal, on: str) -> bool:
    """Run what is missing where it was asked for; whether it stopped early."""
    from rlprof.experiments.trial_pairs import SettledBySpeed

    cluster = cluster_of(on)
    if cluster is None:
        from rlprof.experiments.executor import run_trials

        return run_trials(journal, Progress(journal), SettledBySpeed())
    from rlprof.experiments.cluster_pairs import run_pairs_on

    return run_pairs_on(cluster, journal, Progress(journal), SettledBySpeed())


def _begun(trials: _Trials, margin: float) -> Journal:
    if trials.a is None or trials.b is None:
        raise BadOption("both sides need a command: --a and --b")
    directory = free_directory(trials.out, "compare")
    plan = Plan(
        a=command_words(trials.a, "--a"),
        b=command_words(trials.b, "--b"),
        runs=trials.runs or 10,
        seed=trials.seed if trials.seed is not None else seed_by_chance(),
        warm_up_runs=trials.warm_up_runs,
        timeout=trials.timeout,
        early_stop=trials.early_stop,
        margin=margin,
    )
    return begun(Journal(directory, plan))


def _resumed(trials: _Trials) -> Journal:
    assert trials.resume is not None
    if trials.a is not None or trials.b is not None or trials.out is not None:
        raise BadOption("--resume goes on with the commands of the experiment: leave out --a, --b and --out")
    journal = open_journal(trials.resume)
    plan = journal.plan
    journal.plan = replace(plan, runs=trials.runs or plan.runs, timeout=trials.timeout or plan.timeout)
    return journal


def _titles(plan: Plan) -> tuple[str, str]:
    from rlprof.record.secrets import mask_arguments

    return shlex.join(mask_arguments(list(plan.a))), shlex.join(mask_arguments(list(plan.b)))
