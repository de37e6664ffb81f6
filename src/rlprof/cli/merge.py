"""`rlprof merge`: join the parts that a killed run left behind."""

from __future__ import annotations

from pathlib import Path

import click

from rlprof.cli.window_files import fold_in
from rlprof.model.errors import OutputExists
from rlprof.recording import open_recording
from rlprof.recording.merge import merge as merge_parts
from rlprof.recording.place import find, target_of


@click.command()
@click.argument("parts", metavar="DIRECTORY")
def merge(parts: str) -> None:
    """Join the parts in DIRECTORY (NAME.rlprof.parts) into NAME.rlprof.

    A run does this itself when it ends. Only where rlprof was killed too do parts stay behind; every command reads
    them as they are, so merging is a matter of tidiness.

    \b
    rlprof merge rlprof-runs/train-20250101-120000.rlprof.parts
    """
    directory = find(parts)
    if not directory.is_dir():
        click.echo(f"{directory} is merged already.")
        return
    if open_recording(directory).status == "running":
        raise OutputExists(f"{directory} belongs to a run that is still going on")
    target = target_of(directory)
    if target.exists():
        raise OutputExists(f"{target} exists already: move it away first")
    click.echo(f"Merged into {fold_in(merge_parts(Path(target)))}")
