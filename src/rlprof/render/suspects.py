"""Suspects as a table: where, what each costs for an env step, and what undoes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType

from rlprof.analyse.suspects import Suspect
from rlprof.model.clean import clean_text
from rlprof.model.units import format_duration, format_percent, format_ratio
from rlprof.render.canvas import Canvas, grid, title
from rlprof.render.code_lines import short_place
from rlprof.render.sections import draw_sections


def render_suspects(suspects: Sequence[Suspect], console: Console) -> None:
    """Draw the table on a console."""

    def sections(canvas: Canvas) -> Iterator[RenderableType]:
        note = "after start-up, by stack samples; at most: if it took no time"
        yield Group(title("Suspects", note, canvas.width), _table(suspects, canvas))

    draw_sections(sections, console)


def _table(suspects: Sequence[Suspect], canvas: Canvas) -> RenderableType:
    table = grid(canvas)
    for name in ("suspect", "where"):
        table.add_column(name, no_wrap=True)
    for name in ("per step", "share", "at most"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("undone by")
    for suspect in suspects:
        table.add_row(
            suspect.suspicion.name,
            clean_text(short_place(suspect.line), 40),
            format_duration(suspect.seconds_per_env_step),
            format_percent(suspect.share),
            format_ratio(suspect.bound),
            suspect.suspicion.cure,
        )
    return table
