"""Operations by the names that the program gave them, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from rlprof.analyse.named_operations import NamedOperation
from rlprof.model.units import format_count, format_duration, format_megabytes
from rlprof.render.canvas import Canvas, grid, safe, title
from rlprof.render.columns import about_megabytes
from rlprof.render.sections import draw_sections


def render_named_operations(operations: Sequence[NamedOperation], console: Console) -> None:
    """Draw the table on a console."""

    def sections(canvas: Canvas) -> Iterator[RenderableType]:
        yield Group(title("Operations by name", "wherever they ran", canvas.width), _table(operations, canvas))

    draw_sections(sections, console)


def _table(operations: Sequence[NamedOperation], canvas: Canvas) -> RenderableType:
    """The device's memory has a column where there is a device."""
    on_device = any(operation.gpu_memory_peak_mb is not None for operation in operations)
    table = grid(canvas)
    table.add_column("operation", no_wrap=True)
    for name in ("calls", "total", "avg", "min", "max", "memory", *(["gpu mem"] if on_device else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for operation in operations:
        device = [format_megabytes(operation.gpu_memory_peak_mb)] if on_device else []
        table.add_row(safe(operation.name), *_cells(operation), *device, Text(" ".join(operation.labels), style="red"))
    return table


def _cells(operation: NamedOperation) -> list[str]:
    seconds = (operation.total_seconds, operation.avg_seconds, operation.min_seconds, operation.max_seconds)
    peak = about_megabytes(operation.memory_peak_mb, exact=operation.memory_exact)
    return [format_count(operation.calls), *map(format_duration, seconds), peak]
