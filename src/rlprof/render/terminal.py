"""The report for a terminal: at 80 columns, at 120, and in a pipe without colour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from rich.console import Console, RenderableType

from rlprof.model.report import Report
from rlprof.render import code_lines, device, operations_table, operators, overview, regimes, verdicts, whatif, workers
from rlprof.render.canvas import Canvas
from rlprof.render.sections import draw_sections

Section = Callable[[Report, Canvas], Iterable[RenderableType]]

SECTIONS: Final[tuple[Section, ...]] = (
    overview.head,
    verdicts.verdict,
    verdicts.findings,
    overview.throughput,
    regimes.regimes,
    overview.ledger,
    overview.sampling,
    workers.vector_envs,
    operators.windows,
    device.device,
    operators.operators,
    code_lines.unattributed_lines,
    operations_table.operations,
    code_lines.phase_lines,
    verdicts.bottlenecks,
    whatif.what_if,
    verdicts.slow_iterations,
    verdicts.processes,
    verdicts.memory,
    verdicts.inferred,
    verdicts.losses,
    verdicts.warnings,
    verdicts.foot,
)


def render_terminal(report: Report, console: Console) -> None:
    """Draw a report on a console."""
    draw_sections(partial(sections_of, report), console)


def sections_of(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Every section that has something to say."""
    for section in SECTIONS:
        yield from section(report, canvas)
