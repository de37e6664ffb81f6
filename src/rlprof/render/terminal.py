"""The report for a terminal: at 80 columns, at 120, and in a pipe without colour."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rich.console import Console, RenderableType

from rlprof.model.report import Report
from rlprof.render import code_lines, device, operations_table, operators, overview, regimes, verdicts, whatif, workers
from rlprof.render.canvas import WIDEST, Canvas

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

#: Stand-ins of the same width, so that columns stay columns.
_PLAIN: Final = str.maketrans("·…µ±─█▏▎▍▌▋▊▉", "-~u~-########")


def render_terminal(report: Report, console: Console) -> None:
    """Draw a report on a console."""
    canvas = Canvas(width=min(console.width, WIDEST), plain=console.options.ascii_only)
    if not canvas.plain:
        draw(report, console, canvas)
        return
    with console.capture() as capture:
        draw(report, console, canvas)
    console.file.write(encodable(capture.get(), console.encoding))


def encodable(text: str, encoding: str) -> str:
    """Text that a stream of this encoding takes: a report must not fail over a middle dot."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def draw(report: Report, console: Console, canvas: Canvas) -> None:
    """Draw every section that has something to say, a blank line before each."""
    for section in SECTIONS:
        for renderable in section(report, canvas):
            if section is not SECTIONS[0]:
                console.print()
            # Names are hostile: nothing in them is markup, an emoji code, or worth a colour of its own.
            console.print(renderable, width=canvas.width, markup=False, emoji=False, highlight=False, crop=False)
