"""Profiles by function as text: what cProfile measured in a run of its own or in a window, or what samples say."""

from __future__ import annotations

import io
import pstats
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rlprof.analyse.by_function import sampled_functions
from rlprof.analyse.places import module_path
from rlprof.analyse.torch_operators import windows_of
from rlprof.model.clean import clean_text
from rlprof.model.recording import Recording
from rlprof.model.report import Window
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.record.cprofile_window import CProfileWindow
from rlprof.recording import open_recording
from rlprof.recording.place import SUFFIX, detailed_of

MOST_FUNCTIONS: Final = 50


def write_table(profile: Path, table: Path, head: str = "") -> None:
    """The functions with the most cumulative time from a .prof file into a text file, then who called each."""
    text = io.StringIO()
    stats: Any = pstats.Stats(str(profile), stream=text)
    _shorten_files(stats)
    stats.sort_stats("cumulative").print_stats(MOST_FUNCTIONS)
    stats.print_callers(MOST_FUNCTIONS)
    table.write_text(head + text.getvalue(), encoding="utf-8", errors="backslashreplace")


def _shorten_files(stats: Any) -> None:
    """Libraries' files from their package on, as everywhere in rlprof: whole paths are wider than any screen."""
    short: dict[tuple[str, int, str], Any] = {}
    for function, (*figures, callers) in stats.stats.items():
        called = (*figures, {_short(caller): value for caller, value in callers.items()})
        name = _short(function)
        short[name] = pstats.add_func_stats(short[name], called) if name in short else called  # type: ignore[attr-defined]
    stats.stats = short
    stats.max_name_len = max((len(pstats.func_std_string(name)) for name in short), default=0)  # type: ignore[attr-defined]


def _short(function: tuple[str, int, str]) -> tuple[str, int, str]:
    file, line, name = function
    return module_path(file), line, name


def write_details(recorded: Path) -> list[Path]:
    """The texts that belong to the profiles of a recording's windows; what was written, profiles included."""
    recording = open_recording(recorded)
    written: list[Path] = []
    for window in windows_of(recording):
        for name in window.files if window.tool == CProfileWindow.name else ():
            profile = recorded.with_name(name)
            phase = _phase(recorded, name)
            table = detailed_of(recorded, phase)
            write_table(profile, table, _head(recording, window, phase))
            written += [profile, table]
    if not written:
        table = detailed_of(recorded)
        table.write_text("\n".join(_sampled_lines(recording)) + "\n", encoding="utf-8")
        written.append(table)
    return written


def _phase(recorded: Path, profile: str) -> str | None:
    stem = recorded.name.removesuffix(SUFFIX)
    return profile.removeprefix(f"{stem}.").removesuffix(".prof").removesuffix("prof") or None


def _head(recording: Recording, window: Window, phase: str | None) -> str:
    looked = f"{format_count(window.iterations)} iterations, {format_duration(window.seconds)}"
    tool = "cProfile" if phase is None else "A profiler in cProfile's format"
    lines = [
        f"rlprof: {clean_text(' '.join(recording.command))}",
        f"{tool} looked on for {looked}. The report's figures are of the other iterations.",
    ]
    if phase is not None:
        lines.append(f"Calls that began in the phase {phase}; calls inside them that began in another are left out.")
    return "\n".join(lines) + "\n\n"


def _sampled_lines(recording: Recording) -> Iterator[str]:
    found, total = sampled_functions(recording.main, MOST_FUNCTIONS)
    yield f"rlprof: {clean_text(' '.join(recording.command))}"
    yield "cProfile had no iteration to look on in. These are functions by the stack samples of the whole run instead:"
    yield f"{format_count(total)} samples. They tell no calls; imports are among them."
    yield ""
    yield f"{'samples':>9} {'share':>7} {'at end':>9}  function"
    for entry in found:
        place = clean_text(f"{entry.function} {entry.file}", 200)
        yield f"{entry.samples:>9} {format_percent(entry.share):>7} {entry.own:>9}  {place}"
