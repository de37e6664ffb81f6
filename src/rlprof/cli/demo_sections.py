"""What a demo shows of its recording besides the report."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from rlprof.analyse.suspects import Suspicion
from rlprof.cli.run import short
from rlprof.model.errors import BadOption
from rlprof.model.expectations import Expectation
from rlprof.recording import open_recording


def show_breakdown(recorded: Path) -> None:
    """The time by component, and where the recording is."""
    from rich.console import Console

    from rlprof.analyse.breakdown import breakdown_of
    from rlprof.analyse.report import build_report
    from rlprof.render.breakdown import render_breakdown

    found = breakdown_of(build_report(open_recording(recorded)))
    if found is None:
        raise BadOption(f"{short(recorded)} shows no data collection: was the program stopped before its first batch?")
    render_breakdown(found, Console())
    click.echo(f"\nRecording  {short(recorded)}\nrlprof report {short(recorded)} shows the rest")


def show_suspects(recorded: Path, suspicions: Sequence[Suspicion]) -> None:
    """What each of them costs for an env step, where it was seen at all."""
    from rich.console import Console

    from rlprof.analyse.report import build_report
    from rlprof.analyse.suspects import suspects_of
    from rlprof.render.suspects import render_suspects

    found = suspects_of(build_report(open_recording(recorded)), suspicions)
    if found:
        click.echo()
        render_suspects(found, Console())


def show_names(recorded: Path, names: Sequence[str]) -> None:
    """What the program named itself, then the time by category."""
    from rich.console import Console

    from rlprof.analyse.categories import categories_of
    from rlprof.analyse.named_operations import named_operations
    from rlprof.analyse.report import build_report
    from rlprof.render.categories import category_lines
    from rlprof.render.named_operations import render_named_operations

    report = build_report(open_recording(recorded))
    click.echo()
    render_named_operations(named_operations(report, names), Console())
    _print(category_lines(categories_of(report)))


def _print(lines: Iterable[str]) -> None:
    """A block of lines, a blank one before it, in what characters the terminal has."""
    from rlprof.render.sections import encodable

    click.echo(encodable("\n".join(["", *lines]), sys.stdout.encoding or "utf-8"))


def show_rollouts(recorded: Path, expected: Sequence[Expectation]) -> None:
    """The mean rollout of each phase over the whole run, then how fast the phases are."""
    from rlprof.analyse.expectations import compare_speeds
    from rlprof.analyse.report import build_report
    from rlprof.analyse.rollouts import mean_rollouts, phase_totals
    from rlprof.render.rollouts import rollout_lines, speed_lines

    recording = open_recording(recorded)
    report = build_report(recording)
    trees = mean_rollouts(phase_totals(report, recording))
    device = "cpu" if report.memory.gpu_peak_mb is None else "gpu"
    for tree in trees:
        _print(rollout_lines(tree))
    _print(speed_lines(compare_speeds(trees, device, expected)))
