"""Which operations to look at first: a score from 0 to 100."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.report import Bottleneck, Operation

#: Points for share of time, own time per call, memory, device memory.
WEIGHTS: Final = (40.0, 30.0, 15.0, 15.0)
SHOWN: Final = 10
SEPARATOR: Final = " / "

#: Below this share of time an operation is no bottleneck, however long its one call took.
SMALLEST_SHARE: Final = 0.005


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One operation over all processes that ran it."""

    name: str
    self_seconds: float
    wall_seconds: float
    calls: int
    memory_mb: float | None
    gpu_memory_mb: float | None

    @property
    def share(self) -> float:
        return self.self_seconds / self.wall_seconds if self.wall_seconds else 0.0

    @property
    def seconds_per_call(self) -> float:
        return self.self_seconds / self.calls


def bottlenecks_of(operations: Iterable[Operation], wall_seconds: Mapping[int, float]) -> tuple[Bottleneck, ...]:
    """The highest scores first. `wall_seconds` is by process."""
    candidates = _candidates(operations, wall_seconds)
    parts = [
        _normalised([candidate.share for candidate in candidates]),
        _normalised([candidate.seconds_per_call for candidate in candidates]),
        _normalised([candidate.memory_mb for candidate in candidates]),
        _normalised([candidate.gpu_memory_mb for candidate in candidates]),
    ]
    # What was not measured says nothing: its weight goes to the parts that were, in proportion.
    known = [(weight, part) for weight, part in zip(WEIGHTS, parts, strict=True) if part is not None]
    full = sum(weight for weight, _ in known)
    scored = [
        Bottleneck(
            operation=candidate.name,
            score=100.0 * sum(weight * part[index] for weight, part in known) / full if full else 0.0,
            share=candidate.share,
            avg_ms=candidate.seconds_per_call * 1e3,
            calls=candidate.calls,
        )
        for index, candidate in enumerate(candidates)
    ]
    worth = [bottleneck for bottleneck in scored if bottleneck.share >= SMALLEST_SHARE]
    return tuple(sorted(worth, key=lambda bottleneck: bottleneck.score, reverse=True)[:SHOWN])


def _candidates(operations: Iterable[Operation], wall_seconds: Mapping[int, float]) -> list[_Candidate]:
    """The same operation in several processes is one candidate, with the share it has in those processes."""
    groups: dict[tuple[str, ...], list[Operation]] = {}
    for operation in operations:
        if operation.phase != UNATTRIBUTED:
            groups.setdefault(operation.path, []).append(operation)
    return [
        _Candidate(
            name=SEPARATOR.join(path),
            self_seconds=sum(operation.self_seconds for operation in group),
            wall_seconds=_wall_of(group, wall_seconds),
            calls=sum(operation.calls for operation in group),
            memory_mb=_highest(operation.memory_peak_mb for operation in group),
            gpu_memory_mb=_highest(operation.gpu_memory_peak_mb for operation in group),
        )
        for path, group in groups.items()
    ]


def _wall_of(group: Iterable[Operation], wall_seconds: Mapping[int, float]) -> float:
    """The time the group could have taken: one name may be several paths of a thread, by phase or kind of span."""
    threads = {(operation.process, operation.thread) for operation in group}
    return sum(wall_seconds[process] for process, _ in threads)


def _highest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _normalised(values: list[float | None] | list[float]) -> list[float] | None:
    """Each value as a share of the largest; None when none was measured."""
    highest = _highest(values)
    if highest is None:
        return None
    return [max(value, 0.0) / highest if value is not None and highest > 0 else 0.0 for value in values]
