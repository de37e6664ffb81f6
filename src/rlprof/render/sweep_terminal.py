"""A sweep for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.sweep import Curve, Setting, Sweep
from rlprof.model.units import format_percent, format_rate
from rlprof.render import sweep_text as words
from rlprof.render.bars import bar
from rlprof.render.canvas import QUIET, Canvas, cut, grid, safe, title, widest
from rlprof.render.curve import curve as drawn_curve
from rlprof.render.sections import draw_sections

_STYLES: Final = {"proven": "green", "unbeaten": "green", "tie": "cyan", "cannot-tell": "yellow", "refuted": "red"}
_BAR: Final = 12
#: Below this width phases are left out of the table.
_ROOM_FOR_PHASES: Final = 96
_LONGEST_VALUE: Final = 24
_MOST_LISTED: Final = 12


def render_sweep(found: Sweep, console: Console) -> None:
    """Draw a sweep on a console."""
    draw_sections(partial(_sections, found), console)


def _sections(found: Sweep, canvas: Canvas) -> Iterator[RenderableType]:
    yield Group(
        Text("rlprof sweep", style="bold").append(f"  {words.headline(found)}", style="not bold"),
        cut(safe(found.command, QUIET, 300), canvas.width),
    )
    style = _STYLES[found.confirmation.standing if found.confirmation else found.standing]
    yield safe(found.recommendation, f"bold {style}", 600)
    yield _table(found, canvas)
    for curve in found.curves:
        yield _curve(found, curve, canvas)
    if found.confirmation:
        lines = [found.confirmation.sentence, *(words.rival_line(rival, found) for rival in found.confirmation.rivals)]
        yield _listed("Confirmation", lines, "neighbours against the best, in runs of their own", canvas)
    notes = list(words.notes(found))
    if notes:
        yield _listed("Notes", notes, "", canvas)
    if found.stopped:
        yield Text("Stopped  ", style="bold").append_text(safe(found.stopped, "not bold", 300))
    if found.other_load is not None:
        said = f"others used {format_percent(found.other_load)} of the machine in a typical trial"
        yield Text("Other load  ", style="bold").append(said, style="not bold")
    if found.warnings:
        yield _listed("Warnings", [f"{w.code}: {w.message}; remedy: {w.remedy}" for w in found.warnings], "", canvas)


def _listed(name: str, lines: list[str], note: str, canvas: Canvas) -> RenderableType:
    more = len(lines) - _MOST_LISTED
    shown = [*lines[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
    indented = (Padding(safe(line, limit=600), (0, 0, 0, 2), expand=False) for line in shown)
    return Group(title(name, note, canvas.width), *indented)


def _table(found: Sweep, canvas: Canvas) -> RenderableType:
    table = grid(canvas)
    for name in found.parameters:
        table.add_column(clean_text(name, _LONGEST_VALUE), justify="right", no_wrap=True)
    unit = words.rate(found, 1.0).partition(" ")[2]
    table.add_column(unit, justify="right", no_wrap=True)
    table.add_column("likely", no_wrap=True)
    table.add_column("", min_width=_BAR, no_wrap=True)
    table.add_column("runs", justify="right", no_wrap=True)
    table.add_column("trial", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    wide = canvas.width >= _ROOM_FOR_PHASES
    if wide:
        table.add_column("phases", no_wrap=True, overflow="ellipsis")
    highest = max((setting.rate or 0.0 for setting in found.settings), default=0.0)
    rows = [list(_cells(found, setting, highest, canvas)) for setting in found.settings]
    heads = [str(column.header) for column in table.columns]
    taken = sum(widest([head, *(row[at].plain for row in rows)]) for at, head in enumerate(heads) if at < len(rows[0]))
    for row, setting in zip(rows, found.settings, strict=True):
        beside = [cut(safe(words.phases(setting), QUIET), canvas.width - taken)] if wide else []
        table.add_row(*row, *beside)
    return table


def _cells(found: Sweep, setting: Setting, highest: float, canvas: Canvas) -> Iterator[Text]:
    style = "bold" if setting.name == found.best else ""
    for name in found.parameters:
        yield cut(safe(setting.values.get(name, ""), style), _LONGEST_VALUE)
    yield Text(format_rate(setting.rate, "").strip(), style=style)
    yield Text(words.likely(setting))
    share = (setting.rate or 0.0) / highest if highest > 0 else 0.0
    yield Text(bar(share, _BAR, plain=canvas.plain), style="cyan")
    yield Text(str(setting.runs))
    yield Text(words.trial_time(setting))
    yield Text(words.verdict(setting, found.best), style="green" if setting.name == found.best else "")


def _curve(found: Sweep, curve: Curve, canvas: Canvas) -> RenderableType:
    by_name = {setting.name: setting for setting in found.settings}
    points = [(n, by_name[name].rate or 0.0) for n, name in zip(curve.numbers, curve.settings, strict=True)]
    law = [(point.n, point.rate) for point in curve.law.curve]
    lines = drawn_curve(points, law, canvas.width, lambda y: format_rate(y, "").strip(), plain=canvas.plain)
    said = [safe(line, limit=400) for line in words.law_lines(found, curve)]
    return Group(title("Scaling", words.curve_title(curve), canvas.width), *(Text(line) for line in lines), *said)
