"""`rlprof check`: a gate for CI that closes only on a proven regression."""

from __future__ import annotations

import sys

import click

from rlprof.cli.percent import parse_share
from rlprof.cli.recording_sets import open_set, title_of
from rlprof.cli.report import OUTPUT, write_output
from rlprof.experiments.compare import Circumstances
from rlprof.experiments.recorded_pairs import match
from rlprof.experiments.regression import Allowed, regressions_of
from rlprof.model.errors import BadOption

EPILOG = """\b
Examples:
  rlprof check new/ --baseline old/
  rlprof check n1.rlprof n2.rlprof n3.rlprof n4.rlprof n5.rlprof --baseline old/ --max-slowdown 10%
  rlprof check new/ --baseline old/ --markdown comment.md

Folders hold several recordings; at least 5 on both sides are needed to prove anything. Exit code 1: a regression is
proven. 0: none is, which does not say that there is none; the output says how small a one could have been found."""


class _CheckCommand(click.Command):
    """Takes several recordings behind `--baseline`, as a shell's `*` puts them there."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        inside = False
        for word in args:
            if word.startswith("-"):
                inside = word == "--baseline"
                if inside:
                    continue
            spread += ["--baseline", word] if inside else [word]
        return super().parse_args(ctx, spread)


@click.command(cls=_CheckCommand, epilog=EPILOG)
@click.argument("recordings", nargs=-1, type=click.Path())
@click.option("--baseline", "baseline", multiple=True, type=click.Path(), help="Recordings to hold them against.")
@click.option(
    "--max-slowdown", default="5%", metavar="SHARE", help="How much longer the loop or a phase may take [5%]."
)
@click.option("--max-memory-growth", default="10%", metavar="SHARE", help="What peak memory may grow by [10%].")
@click.option("--force", is_flag=True, help="Check even what was measured under different conditions.")
@click.option("--json", "json_file", metavar="FILE", type=OUTPUT, help="Write the comparison as JSON; - is stdout.")
@click.option(
    "--markdown", "markdown_file", metavar="FILE", type=OUTPUT, help="Write the Markdown there, not to stdout."
)
def check(
    recordings: tuple[str, ...],
    baseline: tuple[str, ...],
    max_slowdown: str,
    max_memory_growth: str,
    force: bool,
    json_file: str | None,
    markdown_file: str | None,
) -> None:
    """Are these runs proven to be slower than a baseline? Prints Markdown for a pull request.

    Speed per env step, every phase and peak memory are looked at together, so that at most one check in twenty raises
    a false alarm, whatever the number of phases.
    """
    from rlprof.render.comparison_markdown import render_comparison_markdown
    from rlprof.render.json import render_json

    if not recordings or not baseline:
        raise BadOption("name recordings and a baseline: rlprof check new/ --baseline old/")
    allowed = Allowed(parse_share(max_slowdown), parse_share(max_memory_growth))
    names = title_of(baseline), title_of(recordings)
    matched = match(open_set(baseline), open_set(recordings), names, Circumstances(forced=force))
    found = matched.compare()
    regressions = [regression.text() for regression in regressions_of(matched.pairs, allowed)]
    if json_file is not None:
        write_output(json_file, render_json(found))
    if json_file != "-" or markdown_file is not None:
        write_output(markdown_file or "-", render_comparison_markdown(found, regressions))
    if regressions:
        sys.exit(1)
