"""`rlprof rules`: what rlprof looks for."""

from __future__ import annotations

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rlprof.advise.engine import RULES
from rlprof.advise.pages import summary_of

EPILOG = """\b
Examples:
  rlprof rules
  rlprof explain unattributed-high"""


@click.command(epilog=EPILOG, short_help="List what rlprof looks for.")
def rules() -> None:
    """List the rules that findings come from, each with what it is about. `rlprof explain RULE` shows its page."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for rule in sorted(RULES, key=lambda rule: rule.name):
        table.add_row(Text(rule.name), Text(summary_of(rule.name)))
    Console(highlight=False).print(table)
