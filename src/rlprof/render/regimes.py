"""Regimes: when the run changed its speed, and why. A run that did not has no such section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Report
from rlprof.model.units import format_duration, format_rate
from rlprof.render.canvas import Canvas, cut, grid, title, widest

TITLES: Final = ("from", "to", "speed", "regime")
_STYLES: Final = {"steady": "green", "warm-up": "cyan", "degraded": "red"}
_START_UP: Final = "start-up"


def regimes(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The regimes after start-up, each with what moved when it began."""
    rows = regime_cells(report)
    if not rows:
        return
    table = grid(canvas)
    for name in TITLES:
        table.add_column(name, justify="left" if name == "regime" else "right", no_wrap=True)
    table.add_column("because of", no_wrap=True)
    room = canvas.width - sum(widest(column) for column in zip(TITLES, *(row[:-1] for row in rows), strict=True))
    for *cells, cause in rows:
        label = cells[-1]
        table.add_row(*cells[:-1], Text(label, style=_STYLES.get(label, "")), cut(Text(cause), max(room, 10)))
    yield Group(title("Regimes", "where the speed of windows changed"), table)


def regime_cells(report: Report) -> list[list[str]]:
    """A row per regime after start-up; none where there is only one."""
    after = [regime for regime in report.regimes if regime.label != _START_UP]
    if len(after) < 2:
        return []
    return [
        [
            format_duration(regime.start_s),
            format_duration(regime.end_s),
            format_rate(regime.sps),
            clean_text(regime.label, 20),
            clean_text(regime.cause or "", 200),
        ]
        for regime in after
    ]
