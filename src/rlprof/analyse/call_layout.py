"""A growing call tree, and how it is laid out: every node below its parent, the largest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

#: What has less than this share of the whole cannot be seen, nor clicked on.
SMALLEST_SHARE: Final = 0.0005
MOST_NODES: Final = 2500
WHOLE: Final = "whole thread"


@dataclass(frozen=True, slots=True)
class CallNode:
    """A span, or a function that was sampled inside of one.

    `start` and `end` are its place below the whole, 0 to 1. The own time of a span holds that of its functions.
    """

    name: str
    phase: str
    file: str | None  # None: a span
    line: int | None
    parent: int | None
    depth: int
    start: float
    end: float
    total_seconds: float
    self_seconds: float
    calls: int | None  # None for a function: it was sampled, not counted


@dataclass(frozen=True, slots=True)
class CallTree:
    title: str
    seconds: float
    nodes: tuple[CallNode, ...]  # parents before children
    hidden: int  # nodes too small to be shown


@dataclass(slots=True, eq=False)
class GrowingNode:
    """A node while times are added. Functions divide the own time of the span they are in, and of the one above."""

    name: str
    phase: str
    file: str | None = None
    line: int | None = None
    own: float = 0.0
    calls: int = 0
    total: float = 0.0
    below: dict[tuple[str, str | None], GrowingNode] = field(default_factory=dict)

    def child(self, name: str, phase: str, file: str | None = None, line: int | None = None) -> GrowingNode:
        """The node of that name below this one, made where it is missing."""
        found = self.below.get((name, file))
        if found is None:
            found = self.below[name, file] = GrowingNode(name, phase, file, line)
        return found


def lay_out(title: str, top: GrowingNode) -> CallTree:
    """Every node with its place; what is too small to be seen is counted and left out."""
    order = _parents_first(top)
    _add_up(order)
    least = max(SMALLEST_SHARE * top.total, _smallest_of_the_largest(order))
    nodes: list[CallNode] = []
    waiting: list[tuple[GrowingNode, int | None, int, float]] = [(top, None, 0, 0.0)]
    for node, parent, depth, start in waiting:  # grows while it is walked
        end = start + (node.total / top.total if top.total > 0 else 0.0)
        number = len(nodes)
        nodes.append(_placed(node, parent, depth, start, min(end, 1.0)))
        left = start
        for child in sorted(node.below.values(), key=lambda below: below.total, reverse=True):
            if child.total >= least and child.total > 0:
                waiting.append((child, number, depth + 1, left))
                left += child.total / top.total
    return CallTree(title, top.total, tuple(nodes), len(order) - len(nodes))


def _placed(node: GrowingNode, parent: int | None, depth: int, start: float, end: float) -> CallNode:
    return CallNode(
        name=node.name,
        phase=node.phase,
        file=node.file,
        line=node.line,
        parent=parent,
        depth=depth,
        start=start,
        end=end,
        total_seconds=node.total,
        self_seconds=node.own,
        calls=node.calls if node.file is None and parent is not None else None,
    )


def _parents_first(top: GrowingNode) -> list[GrowingNode]:
    order = [top]
    for node in order:  # grows while it is walked
        order.extend(node.below.values())
    return order


def _add_up(order: list[GrowingNode]) -> None:
    for node in reversed(order):
        inside = sum(child.total for child in _dividing(node))
        node.total = node.own + inside


def _dividing(node: GrowingNode) -> Iterator[GrowingNode]:
    """The children whose time comes on top of the node's own: functions are inside of their span's."""
    return (child for child in node.below.values() if node.file is not None or child.file is None)


def _smallest_of_the_largest(order: list[GrowingNode]) -> float:
    if len(order) <= MOST_NODES:
        return 0.0
    return sorted((node.total for node in order), reverse=True)[MOST_NODES]
