"""`rlprof import`: what another profiler has measured, as a recording."""

from __future__ import annotations

from pathlib import Path

import click

from rlprof.model.clean import clean_text
from rlprof.recording.importers.files import read_foreign
from rlprof.recording.importers.spans import save

EPILOG = """\b
Examples:
  rlprof import trace.json.gz                    a trace of torch.profiler, from this machine or another
  rlprof import timers.json --out unity.rlprof   the timers of an ML-Agents run
  rlprof import train.prof                       a file of cProfile

Then: rlprof report NAME.rlprof"""


@click.command("import", epilog=EPILOG, short_help="Make a recording from another profiler's file.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", metavar="RECORDING", type=click.Path(path_type=Path), help="Where to; default: NAME.rlprof here."
)
def import_(file: Path, out: Path | None) -> None:
    """Make a recording from FILE: a trace of torch.profiler (.json, .json.gz), ML-Agents' timers.json, or a .prof file.

    What FILE is, is told by what it holds. Of a torch trace the device's busy and idle time, copies and waits are kept.
    """
    target = out or Path(file.name.split(".")[0] + ".rlprof")
    save(read_foreign(file), target)
    click.echo(
        f"rlprof: wrote {clean_text(str(target), 1000)}; show it with: rlprof report {clean_text(str(target), 1000)}",
        err=True,
    )
