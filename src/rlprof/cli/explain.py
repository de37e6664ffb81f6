"""`rlprof explain`: the page of a rule."""

from __future__ import annotations

import difflib
import sys

import click

from rlprof.advise.engine import RULES
from rlprof.advise.pages import page_of
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption

EPILOG = """\b
Examples:
  rlprof explain unattributed-high
  rlprof explain unattributed-high > page.md"""


@click.command(epilog=EPILOG, short_help="Show the page of a rule.")
@click.argument("rule")
def explain(rule: str) -> None:
    """Show the page of RULE: when it speaks, on what evidence, what cures it, and how it can be wrong.

    In a terminal the page is drawn; in a pipe it is the Markdown itself.
    """
    names = [known.name for known in RULES]
    page = page_of(rule) if rule in names else None
    if page is None:
        near = difflib.get_close_matches(rule, names, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else "`rlprof rules` lists them"
        raise BadOption(f"there is no rule {clean_text(rule, 60)}: {hint}")
    if not sys.stdout.isatty():
        click.echo(page, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(page))
