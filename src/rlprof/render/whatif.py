"""What if: how much faster the whole run would be with a faster phase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType

from rlprof.model.clean import clean_text
from rlprof.model.report import Report, WhatIf
from rlprof.model.units import format_duration, format_ratio
from rlprof.render.canvas import Canvas, grid, safe, title

TOP_PHASES: Final = 4
#: What brings less than this if it were free is not worth a line.
SMALLEST_RATIO: Final = 1.02


def what_if(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The largest phases and what each speed-up of them would bring."""
    rows = whatif_cells(report, None if canvas.operations is None else TOP_PHASES)
    if not rows:
        return
    table = grid(canvas)
    for index, name in enumerate(whatif_titles(report)):
        table.add_column(name, justify="left" if index == 0 else "right", no_wrap=True)
    for name, *cells in rows:
        table.add_row(safe(name), *cells)
    yield Group(title("What if", note(report), canvas.width), table)


def note(report: Report) -> str:
    """What the ratios are of."""
    before = report.ledger.startup_seconds
    trained = report.ledger.wall_seconds - (before or 0.0)
    return f"steps/s if a phase were faster, in {format_duration(trained)}" + (" after start-up" if before else "")


def whatif_titles(report: Report) -> list[str]:
    """The phase, each speed-up, and how sure the last one is."""
    return ["phase", *(_speedup(entry) for entry in _of_first_phase(report)), "free, 95%"]


def whatif_cells(report: Report, most: int | None) -> list[list[str]]:
    """A row per phase that is worth one, in the order of the report."""
    by_phase: dict[str, list[WhatIf]] = {}
    for entry in report.whatif:
        by_phase.setdefault(entry.phase, []).append(entry)
    worth = [entries for entries in by_phase.values() if entries[-1].sps_ratio >= SMALLEST_RATIO]
    return [
        [clean_text(entries[0].phase, 40), *(format_ratio(entry.sps_ratio) for entry in entries), _between(entries[-1])]
        for entries in worth[:most]
    ]


def _of_first_phase(report: Report) -> list[WhatIf]:
    return [entry for entry in report.whatif if entry.phase == report.whatif[0].phase]


def _speedup(entry: WhatIf) -> str:
    return "free" if entry.speedup is None else f"{entry.speedup:g}x faster"


def _between(entry: WhatIf) -> str:
    return f"{format_ratio(entry.low)} to {format_ratio(entry.high)}"
