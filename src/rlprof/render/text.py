"""The report as plain text: no colour, every operation with every column."""

from __future__ import annotations

from functools import partial

from rlprof.model.report import Report
from rlprof.render.canvas import Canvas
from rlprof.render.sections import WIDTH, text_of
from rlprof.render.terminal import sections_of


def render_text(report: Report) -> str:
    """The same sections as on the terminal, complete."""
    canvas = Canvas(width=WIDTH, operations=None, processes=None, iterations=10, every_column=True)
    return text_of(partial(sections_of, report), canvas)
