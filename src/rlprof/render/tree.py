"""Operations in the order of their tree, for tables that indent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlprof.model.report import Operation


@dataclass(frozen=True, slots=True)
class Row:
    operation: Operation
    depth: int


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one thread of one process."""

    process: int
    thread: str
    rows: tuple[Row, ...]


_Key = tuple[int, str, tuple[str, ...]]


def arrange(operations: Sequence[Operation], limit: int | None = None) -> tuple[Group, ...]:
    """The first `limit` operations with all their ancestors, each thread as a tree, the larger branches first."""
    known: dict[_Key, int] = {}
    places: dict[int, int] = {}  # where a process comes in the report
    for index, operation in enumerate(operations):
        known.setdefault(_key(operation, len(operation.path)), index)
        places.setdefault(operation.process, index)
    wanted: set[int] = set()
    for index in range(len(operations) if limit is None else min(limit, len(operations))):
        wanted.add(index)
        wanted.update(_ancestors(operations[index], known))
    below: dict[int | None, list[int]] = {}
    for index in sorted(wanted, key=lambda index: operations[index].total_seconds, reverse=True):
        above = next(iter(_ancestors(operations[index], known)), None)
        below.setdefault(above, []).append(index)
    groups: dict[tuple[int, str], list[Row]] = {}
    # Sorting is stable: within a process the tops stay by size.
    for top in sorted(below.get(None, []), key=lambda index: places[operations[index].process]):
        first = operations[top]
        groups.setdefault((first.process, first.thread), []).extend(_walk(operations, below, top))
    return tuple(Group(process, thread, tuple(rows)) for (process, thread), rows in groups.items())


def _key(operation: Operation, depth: int) -> _Key:
    return operation.process, operation.thread, operation.path[:depth]


def _ancestors(operation: Operation, known: dict[_Key, int]) -> list[int]:
    """The operations around this one, the nearest first."""
    keys = (_key(operation, depth) for depth in range(len(operation.path) - 1, 0, -1))
    return [known[key] for key in keys if key in known]


def _walk(operations: Sequence[Operation], below: dict[int | None, list[int]], top: int) -> list[Row]:
    rows: list[Row] = []
    waiting = [(top, 0)]
    while waiting:
        index, depth = waiting.pop()
        rows.append(Row(operations[index], depth))
        waiting.extend((child, depth + 1) for child in reversed(below.get(index, [])))
    return rows
