"""From our errors to one line on the terminal and an exit code."""

from __future__ import annotations

from typing import IO, Any

import click

from rlprof.model.clean import clean_text
from rlprof.model.errors import RlprofError


class CliError(click.ClickException):
    """Shows as `rlprof: what is wrong and how to put it right`."""

    exit_code = RlprofError.exit_code

    def __init__(self, error: RlprofError) -> None:
        super().__init__(str(error))

    def show(self, file: IO[Any] | None = None) -> None:
        # A message may quote a path, and a path may hold anything.
        click.echo(f"rlprof: {clean_text(self.message, 1000)}", err=True)
