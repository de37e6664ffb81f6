"""The components of a training loop as a table with bars."""

from __future__ import annotations

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from rlprof.analyse.breakdown import Breakdown, Part
from rlprof.model.units import format_duration, format_percent, format_ratio
from rlprof.render.bars import bar
from rlprof.render.canvas import QUIET, WIDEST, Canvas, flow, grid, safe, title
from rlprof.render.sections import encodable

_BESIDE_BAR: Final = 54
_WIDEST_BAR: Final = 40


def render_breakdown(breakdown: Breakdown, console: Console) -> None:
    """Draw a breakdown on a console."""
    canvas = Canvas(width=min(console.width, WIDEST), plain=console.options.ascii_only)
    with console.capture() as capture:
        console.print(_drawn(breakdown, canvas), width=canvas.width, markup=False, emoji=False, highlight=False)
    console.file.write(encodable(capture.get(), console.encoding))
    console.file.flush()


def _drawn(breakdown: Breakdown, canvas: Canvas) -> RenderableType:
    width = max(min(canvas.width - _BESIDE_BAR, _WIDEST_BAR), 0)
    table = grid(canvas, footer=True)
    table.add_column("component", footer="training", no_wrap=True)
    table.add_column("time", footer=format_duration(breakdown.seconds), justify="right", no_wrap=True)
    table.add_column("share", footer=format_percent(1.0), justify="right", no_wrap=True)
    table.add_column("", min_width=width, no_wrap=True)
    for part in breakdown.parts:
        table.add_row(*_cells(part, bar(part.share, width, plain=canvas.plain)))
    return Group(title("Breakdown", "of the training loop", canvas.width), table, Text(), *_notes(breakdown, canvas))


def _cells(part: Part, drawn: str) -> tuple[RenderableType, ...]:
    style = "" if part.depth == 0 else "cyan"
    return (
        safe("  of which " * part.depth + part.name, style),
        format_duration(part.seconds),
        format_percent(part.share),
        Text(drawn, style=style or "bold"),
    )


def _notes(breakdown: Breakdown, canvas: Canvas) -> list[Text]:
    outside = f"{format_duration(breakdown.outside_seconds)} outside of it: imports, set-up, the end, rlprof itself"
    notes = [flow([outside], canvas.width, QUIET)]
    if breakdown.env_step_gain is not None:
        bound = format_ratio(breakdown.env_step_gain)
        notes.append(flow([f"If the env step took no time at all, training would be {bound} as fast"], canvas.width))
    return notes
