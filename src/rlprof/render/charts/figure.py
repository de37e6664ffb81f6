"""Charts as files: all of them in one figure, or each in its own at a column's width."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

from rlprof.render.charts.style import COLUMN_INCHES, PANEL_INCHES, drawing

Draw = Callable[[Any], None]

FORMATS: Final = ("png", "svg", "pdf")


def grid_figure(charts: Mapping[str, Draw], form: str) -> bytes:
    """All charts in two columns, a page wide."""
    with drawing():
        from matplotlib.figure import Figure

        columns = min(len(charts), 2)
        rows = -(-len(charts) // 2)
        figure = Figure(figsize=(columns * COLUMN_INCHES, rows * PANEL_INCHES))
        places = figure.subplots(rows, columns, squeeze=False)
        for axes in places.flat[len(charts) :]:
            axes.set_axis_off()
        for draw, axes in zip(charts.values(), places.flat, strict=False):
            draw(axes)
        return _saved(figure, form)


def single_figure(draw: Draw, form: str) -> bytes:
    """One chart, a column wide."""
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(COLUMN_INCHES, PANEL_INCHES))
        draw(figure.subplots())
        return _saved(figure, form)


def _saved(figure: Any, form: str) -> bytes:
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, metadata=undated.get(form))
    return buffer.getvalue()
