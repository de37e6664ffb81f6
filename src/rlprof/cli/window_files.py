"""The files that windows leave beside a recording: traces of torch.profiler, profiles of cProfile and their texts."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import click

from rlprof.analyse.torch_operators import windows_of
from rlprof.model.clean import clean_text
from rlprof.model.errors import OutputExists, RlprofError
from rlprof.recording import open_recording
from rlprof.recording.place import detailed_of, profile_of, trace_of
from rlprof.recording.traces import fold_traces

#: Warnings of windows. A report lists them; without one they are said here.
CODES = ("torch-trace", "detailed")


def make_room(target: Path, *, overwrite: bool) -> None:
    """A file that another tool may have written is not replaced unasked; that of an older run would mislead."""
    for file in (trace_of(target, 0), profile_of(target), detailed_of(target)):
        if overwrite:
            file.unlink(missing_ok=True)
        elif file.exists():
            raise OutputExists(f"{file} exists already: choose another --out, or allow it with --overwrite")


def fold_in(recorded: Path) -> Path:
    """Traces that lie beside a recording become part of it; without them it is a recording all the same."""
    try:
        fold_traces(recorded)
    except (RlprofError, sqlite3.Error, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        _say(f"the torch trace is not in the report: {error!r}")
    return recorded


def say_what_windows_left(target: Path, *, detailed: bool, with_warnings: bool) -> None:
    """Write the texts, then name every file. Whatever goes wrong here, the program's own end is what counts."""
    try:
        recording = open_recording(target)
        files = [target.with_name(name) for window in windows_of(recording) for name in window.files]
        if detailed:
            from rlprof.cli.by_function import write_details

            files = list(dict.fromkeys((*files, *write_details(target))))
        for warning in recording.main.warnings:
            if with_warnings and warning.code in CODES:
                _say(f"{warning.message}; {warning.remedy}")
        if files:
            _say(f"beside the recording: {', '.join(file.name for file in files)}")
    except (RlprofError, sqlite3.Error, OSError, ValueError, TypeError, EOFError) as error:
        _say(f"what the windows measured could not be written out: {error}")


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(f"rlprof: {clean_text(text, 1000)}", err=True)
