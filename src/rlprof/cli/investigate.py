"""`rlprof investigate`: hypotheses about what would make a program faster, put to the test."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

from rlprof.cli.duration import parse_duration
from rlprof.cli.investigate_progress import InvestigationProgress
from rlprof.cli.report import OUTPUT, write_output
from rlprof.cli.trials import checked_words, ended_as_by_ctrl_c, free_directory, seed_by_chance
from rlprof.cli.where import cluster_of, on_option
from rlprof.experiments.executor import TrialsFail
from rlprof.experiments.investigate.case import PLAN_FILE, Case, begin, resume
from rlprof.experiments.investigate.conclude import Standing, conclude, teams
from rlprof.experiments.investigate.conduct import Conductor, TimeLeft
from rlprof.experiments.investigate.parse import read_plan
from rlprof.experiments.investigate.plan import BadPlan, Plan
from rlprof.experiments.investigate.stage import KIND
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.investigation import Investigation
from rlprof.recording.place import RUNS_DIRECTORY
from rlprof.treat.registry import parse_treatments

EPILOG = """\b
Examples:
  rlprof investigate --from run.rlprof --out plan.toml     a plan from the findings of a recording
  rlprof investigate plan.toml                             test its hypotheses, then the winners together
  rlprof investigate plan.toml --out exp --budget 20m      as many as 20 minutes allow, the best ones first
  rlprof investigate --resume exp                          go on after Ctrl-C, or once more is filled in
  rlprof investigate --resume exp --runs 12                more pairs of runs
  rlprof investigate plan.toml --on ray                    on the nodes of a Ray cluster
  rlprof investigate exp --json - --markdown result.md     show it again

A plan is TOML: a command, and hypotheses with a change, the speed-up that is expected, confidence, effort, and whether
learning changes. docs/commands/investigate.md describes it; nothing in it is run but the command."""


@click.command(epilog=EPILOG, short_help="Test hypotheses about what would make a program faster.")
@click.argument("plan", required=False, type=click.Path(path_type=Path))
@click.option("--from", "recording", metavar="RECORDING", type=click.Path(), help="Write a plan from its findings.")
@click.option("--out", type=click.Path(path_type=Path), metavar="PATH", help=f"Keep trials there [{RUNS_DIRECTORY}/…]; "
              "with --from, the plan to write; - is stdout.")  # fmt: skip
@click.option("--resume", "resumed", type=click.Path(path_type=Path), metavar="DIR", help="Go on with what is in DIR.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Pairs of runs for each hypothesis, at most [8].")
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="End a run that takes longer "
              "[5 times what the program takes as it is].")  # fmt: skip
@click.option("--budget", metavar="TIME", help="Begin no run that would end later: 90s, 20m, 2h [none].")
@on_option
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the result as JSON; - is stdout.")
@click.option("--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write it as Markdown; - is stdout.")
def investigate(
    plan: Path | None,
    recording: str | None,
    out: Path | None,
    resumed: Path | None,
    runs: int | None,
    timeout: float | None,
    budget: str | None,
    on: str,
    json_file: str | None,
    markdown_file: str | None,
) -> None:
    """Test the hypotheses of PLAN, a TOML file, by pairs of runs; then what helps, together.

    The most promising for its effort comes first. Each run is held against the program as it is, for the same work: a
    change that does less of it is called that. Ends with 1 where nothing on the plan helps.
    """
    if sum(given is not None for given in (plan, recording, resumed)) != 1:
        raise BadOption("name a plan, or --from a recording, or --resume an investigation: rlprof investigate --help")
    if recording is not None:
        _write_plan(recording, out)
        return
    if plan is not None and plan.is_dir():
        found, code = conclude(resume(plan), Standing()), None
    else:
        case = _case(plan, out, resumed).with_limits(runs, timeout)
        found, code = _run(case, TimeLeft(parse_duration(budget) if budget is not None else None), on)
    _show(_masked(found), json_file, markdown_file)
    sys.exit(exit_code_of(found) if code is None else code)


def exit_code_of(found: Investigation) -> int:
    """1 where the answer is no: nothing on the plan helps, and nothing is left open."""
    verdicts = {one.verdict for one in found.hypotheses}
    return 1 if verdicts and not verdicts & {"confirmed", "cannot-tell", "untested"} else 0


def _case(plan: Path | None, out: Path | None, resumed: Path | None) -> Case:
    if resumed is not None:
        if out is not None:
            raise BadOption("--resume goes on where the trials are: leave out --out")
        case = resume(resumed)
        _check(case.plan, resumed / PLAN_FILE)
        _say_if_they_differ(Path(case.source), resumed / PLAN_FILE)
        return case
    assert plan is not None
    found = read_plan(plan)
    _check(found, plan)
    return begin(free_directory(out, KIND), plan, found, seed_by_chance())


def _say_if_they_differ(source: Path, copy: Path) -> None:
    """Whoever edits the plan they began with expects it to count."""
    try:
        differ = source.read_bytes() != copy.read_bytes()
    except OSError:  # it is gone, or was in another folder
        return
    if differ:
        click.echo(f"rlprof: {source} is not what {copy} is: the latter counts, edit that one or begin anew", err=True)


def _check(plan: Plan, file: Path) -> None:
    """What would only show once it is run, and cost time until then."""
    checked_words(plan.command, f"the command in {file}")
    for hypothesis in plan.hypotheses:
        try:
            parse_treatments(hypothesis.change.treatments)
        except BadOption as error:
            raise BadPlan(f"{file}: hypothesis {hypothesis.name}: {error}") from None


def _run(case: Case, time_left: TimeLeft, on: str) -> tuple[Investigation, int | None]:
    """Run what is missing, then judge; the exit code where it did not come to its end."""
    code = None
    again = f"rlprof investigate --resume {shlex.quote(str(case.directory))}"
    try:
        with ended_as_by_ctrl_c():
            Conductor(case, InvestigationProgress(), time_left, cluster_of(on)).run(lambda: teams(case))
    except KeyboardInterrupt:
        code = 130
        click.echo(f"\nrlprof: interrupted; what was measured is kept: {again}", err=True)
    except TrialsFail as error:
        if not any(case.stage(hypothesis).exists() for hypothesis in case.tested()):
            raise
        code = error.exit_code
        click.echo(f"rlprof: {clean_text(str(error), 1000)}; what was measured is kept: {again}", err=True)
    click.echo(err=True)
    return conclude(case, Standing(code == 130, time_left.is_spent)), code


def _masked(found: Investigation) -> Investigation:
    """Commands and variables with their secrets taken out."""
    from rlprof.record.secrets import mask_arguments, mask_variable

    def words(command: str) -> str:
        return shlex.join(mask_arguments(shlex.split(command)))

    def variables(one: dict[str, str]) -> dict[str, str]:
        return {name: mask_variable(name, value) for name, value in one.items()}

    return replace(
        found,
        baseline=words(found.baseline),
        actions=tuple(replace(item, action=" ".join(mask_arguments(item.action.split(" ")))) for item in found.actions),
        hypotheses=tuple(
            replace(one, command=words(one.command), environment=variables(dict(one.environment)))
            for one in found.hypotheses
        ),
        combinations=tuple(
            replace(one, command=words(one.command), environment=variables(dict(one.environment)))
            for one in found.combinations
        ),
    )


def _show(found: Investigation, json_file: str | None, markdown_file: str | None) -> None:
    if json_file is not None:
        from rlprof.render.json import render_json

        write_output(json_file, render_json(found))
    if markdown_file is not None:
        from rlprof.render.investigation_markdown import render_investigation_markdown

        write_output(markdown_file, render_investigation_markdown(found))
    if "-" not in (json_file, markdown_file):
        from rich.console import Console

        from rlprof.render.investigation_terminal import render_investigation

        render_investigation(found, Console())


def _write_plan(recording: str, out: Path | None) -> None:
    from rlprof.advise.report import complete_report
    from rlprof.experiments.investigate.from_findings import plan_from_findings
    from rlprof.recording import open_recording

    opened = open_recording(recording)
    target = out or Path(f"{Path(recording).name.split('.')[0]}.plan.toml")
    if str(target) != "-" and target.exists():
        raise BadOption(f"{target} is there already: name another file with --out")
    report = complete_report(opened)
    write_output(str(target), plan_from_findings(opened, report))
    if str(target) != "-":
        click.echo(f"rlprof: wrote {target}: fill in what it leaves open, then rlprof investigate {target}", err=True)
