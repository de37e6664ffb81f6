"""Operations that carry a name of their own: one row for each name, wherever in the tree it ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlprof.model.report import Operation, Report


@dataclass(frozen=True, slots=True)
class NamedOperation:
    name: str
    calls: int
    total_seconds: float
    min_seconds: float | None
    max_seconds: float | None
    memory_peak_mb: float | None
    memory_exact: bool
    gpu_memory_peak_mb: float | None
    labels: tuple[str, ...]

    @property
    def avg_seconds(self) -> float | None:
        return self.total_seconds / self.calls if self.calls else None


def named_operations(report: Report, names: Sequence[str]) -> tuple[NamedOperation, ...]:
    """Those of the names that the main process has, in their order. What calls itself counts once, from outside."""
    main = report.run.processes[0]
    found: dict[str, list[Operation]] = {name: [] for name in names}
    for entry in report.operations:
        name = entry.path[-1]
        if name in found and entry.process == main.id and name not in entry.path[:-1]:
            found[name].append(entry)
    return tuple(_together(name, entries) for name, entries in found.items() if entries)


def _together(name: str, entries: Sequence[Operation]) -> NamedOperation:
    peak = _largest(entry.memory_peak_mb for entry in entries)
    least = [entry.min_seconds for entry in entries if entry.min_seconds is not None]
    return NamedOperation(
        name=name,
        calls=sum(entry.calls for entry in entries),
        total_seconds=sum(entry.total_seconds for entry in entries),
        min_seconds=min(least, default=None),
        max_seconds=_largest(entry.max_seconds for entry in entries),
        memory_peak_mb=peak,
        memory_exact=any(entry.memory_exact for entry in entries if entry.memory_peak_mb == peak),
        gpu_memory_peak_mb=_largest(entry.gpu_memory_peak_mb for entry in entries),
        labels=tuple(dict.fromkeys(label for entry in entries for label in entry.labels)),
    )


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
