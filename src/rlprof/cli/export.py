"""`rlprof export`: a recording for the viewers people already have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from rlprof.cli.report import replace_whole
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording
from rlprof.recording import open_recording

EPILOG = """\b
Examples:
  rlprof export run.rlprof --to chrome             open it at ui.perfetto.dev or chrome://tracing
  rlprof export run.rlprof --to speedscope --out run.speedscope.json
  rlprof export run.rlprof --to csv --out - | head
  rlprof export run.rlprof --to tensorboard --out runs/profile"""

#: What a file is called where nobody named it: the recording's name and this.
SUFFIXES: Final = {
    "chrome": ".trace.json",
    "speedscope": ".speedscope.json",
    "csv": ".csv",
    "parquet": ".parquet",
    "tensorboard": ".tensorboard",
}


@click.command(epilog=EPILOG, short_help="Write a recording for another viewer.")
@click.argument("recording", type=click.Path())
@click.option("--to", "form", type=click.Choice(list(SUFFIXES)), required=True, help="The form to write.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Where to; - is stdout. Default: beside the recording.")
def export(recording: str, form: str, out: str | None) -> None:
    """Write RECORDING in a form that another viewer opens.

    \b
    chrome       Perfetto, chrome://tracing: iterations, phases, counters, and the spans that were logged
    speedscope   flame graph of spans with the sampled lines below them
    csv          a line for each path and slice of time
    parquet      the same rows, for pandas and others (needs pyarrow)
    tensorboard  shares of the phases and steps per second over env steps (needs tensorboard)
    """
    found = open_recording(recording)
    target = out or _beside(recording, SUFFIXES[form])
    if target == "-" and form not in _TEXTS:
        raise BadOption(f"{form} is no text: name a place for it with --out")
    if target != "-" and os.path.realpath(target) == os.path.realpath(recording):
        raise BadOption(f"{target} is the recording itself: name another place")
    try:
        _write(found, form, target)
    except OSError as error:
        raise BadOption(f"cannot write {clean_text(target)}: {error.strerror or error}") from error
    if target != "-":
        click.echo(f"rlprof: wrote {clean_text(target, 1000)}", err=True)


def _beside(recording: str, suffix: str) -> str:
    path = Path(os.path.realpath(recording))
    return str(path.with_name(path.name.removesuffix(".parts").removesuffix(".rlprof") + suffix))


def _write(found: Recording, form: str, target: str) -> None:
    if form == "parquet":
        from rlprof.render.tables import write_parquet

        write_parquet(found, Path(target))
    elif form == "tensorboard":
        from rlprof.render.scalars import write_tensorboard

        write_tensorboard(found, Path(target))
    elif target == "-":
        for piece in _TEXTS[form](found):
            click.echo(piece, nl=False)
    else:
        replace_whole(Path(os.path.realpath(target)), _TEXTS[form](found))


def _chrome(found: Recording) -> Iterator[str]:
    from rlprof.render.chrome_trace import chrome_trace

    return chrome_trace(found)


def _speedscope(found: Recording) -> Iterator[str]:
    from rlprof.render.speedscope import speedscope_profile

    return iter([speedscope_profile(found)])


def _csv(found: Recording) -> Iterator[str]:
    from rlprof.render.tables import csv_table

    return csv_table(found)


_TEXTS: Final[dict[str, Callable[[Recording], Iterator[str]]]] = {
    "chrome": _chrome,
    "speedscope": _speedscope,
    "csv": _csv,
}
