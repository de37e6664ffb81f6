"""Windows of other profilers, and what torch.profiler has seen in its own: operators by phase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Operator, PhaseOperators, Report, Window
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.render.canvas import Canvas, cut, grid, safe, title, widest

TOP_PHASES: Final = 6
TOP_OPERATORS: Final = 4
#: A phase with less of all operators' time than this is not worth its lines.
SMALLEST_SHARE: Final = 0.005
OTHERS: Final = "other operators"


def windows(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """One line each."""
    if report.windows:
        lines = [cut(Text(line), canvas.width) for line in window_lines(report)]
        yield Group(title("Windows", "iterations in which another profiler looked on", canvas.width), *lines)


def window_lines(report: Report) -> Iterator[str]:
    """How long another profiler looked on, whether that is kept apart, and where its files are."""
    for window in report.windows:
        yield window_text(window)
        yield f"  {window_files(window)}"


def window_text(window: Window) -> str:
    lasted = f"{_iterations(window)}, {format_duration(window.seconds)}"
    return f"{clean_text(window.tool, 40)}: {lasted}; {_apart(window)}"


def window_files(window: Window) -> str:
    return ", ".join(clean_text(name, 120) for name in window.files) or "no file"


def _iterations(window: Window) -> str:
    noun = "iteration" if window.iterations == 1 else "iterations"
    warm = f" ({format_count(window.warmup)} to warm up)" if window.warmup else ""
    return f"{format_count(window.iterations)} {noun}{warm}"


def _apart(window: Window) -> str:
    return "they are in no other figure" if window.apart else "their cost is in the other figures"


def operators(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """The phases with the most time in operators, and the operators with the most time of their own in each."""
    everything = canvas.operations is None
    rows = list(operator_cells(report, None if everything else TOP_PHASES, None if everything else TOP_OPERATORS))
    if not rows:
        return
    titles = operator_titles(report)
    table = grid(canvas)
    for index, name in enumerate(titles):
        table.add_column(name, justify="left" if index < 2 else "right", no_wrap=True)
    others = (place for place in range(len(titles)) if place != 1)
    room = canvas.width - sum(widest([titles[at], *(row[at] for row in rows)]) for at in others)
    for phase, name, *cells in rows:
        table.add_row(safe(phase), cut(safe(name), room), *cells)
    yield Group(title("Operators", note(), canvas.width), table)


def note() -> str:
    return "of torch by phase, as measured by torch.profiler; self: without the operators inside"


def operator_titles(report: Report) -> list[str]:
    return ["phase", "operator", "calls", "self", "total", "share", *(["device"] if _on_device(report) else [])]


def operator_cells(report: Report, phases: int | None, most: int | None) -> Iterator[list[str]]:
    """A row for each phase and below it its operators; what is left out of them is one row more."""
    worth = [found for found in report.operators or () if phases is None or found.share >= SMALLEST_SHARE]
    on_device = _on_device(report)
    for found in worth[:phases]:
        yield _phase_row(found, on_device)
        shown = found.operators[:most]
        yield from (_operator_row(operator, on_device) for operator in shown)
        if len(shown) == len(found.operators) and found.other_seconds > 0:
            yield ["", f"  {OTHERS}", "", format_duration(found.other_seconds), "", "", *([""] if on_device else [])]


def _phase_row(found: PhaseOperators, on_device: bool) -> list[str]:
    device = [format_duration(found.device_seconds)] if on_device else []
    calls = format_count(found.calls)
    return [
        clean_text(found.phase, 40), "all operators", calls, format_duration(found.seconds), "",
        format_percent(found.share), *device,
    ]  # fmt: skip


def _operator_row(operator: Operator, on_device: bool) -> list[str]:
    device = [format_duration(operator.device_seconds)] if on_device else []
    figures = (format_count(operator.calls), format_duration(operator.self_seconds))
    name = f"  {clean_text(operator.name, 80)}"
    return ["", name, *figures, format_duration(operator.total_seconds), "", *device]


def _on_device(report: Report) -> bool:
    return any(found.device_seconds is not None for found in report.operators or ())
