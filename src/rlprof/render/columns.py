"""The columns of the operations table, and which of them fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.model.report import Operation
from rlprof.model.units import format_count, format_duration, format_megabytes


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    cell: Callable[[Operation], str]
    rank: int  # where space is short, the highest ranks go first


def about_megabytes(megabytes: float | None, *, exact: bool) -> str:
    """A peak that the sampler saw may have missed the true one: it reads as about."""
    said = format_megabytes(megabytes)
    return said if exact or megabytes is None else f"~{said}"


MEMORY: Final = Column("memory", lambda row: about_megabytes(row.memory_peak_mb, exact=row.memory_exact), 6)
GPU_MEMORY: Final = Column("gpu mem", lambda operation: format_megabytes(operation.gpu_memory_peak_mb), 7)

#: In the order they are drawn.
COLUMNS: Final[tuple[Column, ...]] = (
    Column("calls", lambda operation: format_count(operation.calls), 2),
    Column("total", lambda operation: format_duration(operation.total_seconds), 1),
    Column("self", lambda operation: format_duration(operation.self_seconds), 0),
    Column("avg", lambda operation: format_duration(operation.avg_seconds), 3),
    Column("min", lambda operation: format_duration(operation.min_seconds), 9),
    Column("max", lambda operation: format_duration(operation.max_seconds), 5),
    Column("p50", lambda operation: format_duration(operation.p50_seconds), 8),
    Column("p99", lambda operation: format_duration(operation.p99_seconds), 4),
    MEMORY,
    GPU_MEMORY,
)


def columns_with_data(operations: Iterable[Operation]) -> tuple[Column, ...]:
    """All columns but those about memory that nobody measured."""
    seen = tuple(operations)
    absent = set()
    if all(operation.memory_peak_mb is None for operation in seen):
        absent.add(MEMORY.title)
    if all(operation.gpu_memory_peak_mb is None for operation in seen):
        absent.add(GPU_MEMORY.title)
    return tuple(column for column in COLUMNS if column.title not in absent)


def width_of(column: Column, operations: Iterable[Operation]) -> int:
    """How wide a column is drawn."""
    return max([len(column.title), *(len(column.cell(operation)) for operation in operations)])


def fitting(columns: Sequence[Column], widths: Sequence[int], room: int, gap: int) -> tuple[Column, ...]:
    """The columns that fit into `room`, the least needed ones left out, in their order."""
    ranked = sorted(zip(columns, widths, strict=True), key=lambda pair: pair[0].rank)
    kept: set[str] = set()
    for column, width in ranked:
        if width + gap > room:
            break  # a lower rank must not slip in where a higher one found no place
        room -= width + gap
        kept.add(column.title)
    return tuple(column for column in columns if column.title in kept)
