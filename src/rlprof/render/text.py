"""The report as plain text: no colour, 100 columns, every operation with every column."""

from __future__ import annotations

import io
from typing import Final

from rlprof.model.report import Report
from rlprof.render.canvas import Canvas, text_console
from rlprof.render.terminal import draw

WIDTH: Final = 100


def render_text(report: Report) -> str:
    """The same sections as on the terminal, complete, with no trailing blanks."""
    buffer = io.StringIO()
    console = text_console(buffer, WIDTH)
    draw(report, console, Canvas(width=WIDTH, operations=None, processes=None, iterations=10, every_column=True))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"
