"""The span tree of a process, put in an order in which it can be walked without recursion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlprof.model.kinds import ITERATION
from rlprof.model.phases import OTHER, UNATTRIBUTED, is_phase
from rlprof.model.recording import Path, Process


@dataclass(frozen=True, slots=True)
class SpanTree:
    """`order` lists every path once, parents before children; a damaged parent link makes a path a top one."""

    order: tuple[int, ...]
    parent: Mapping[int, int | None]
    children: Mapping[int, tuple[int, ...]]


def grow_tree(process: Process) -> SpanTree:
    """The tree of all threads of a process."""
    paths = process.paths
    parent = {
        path.id: path.parent if path.parent is not None and path.parent in paths else None for path in paths.values()
    }
    children: dict[int, list[int]] = {identity: [] for identity in paths}
    for identity, above in parent.items():
        if above is not None:
            children[above].append(identity)
    order = _parents_first([identity for identity, above in parent.items() if above is None], children)
    reached = set(order)
    for identity in paths:
        if identity not in reached:  # on a cycle, or below one, which only a damaged file can hold: cut it apart
            parent[identity], children[identity] = None, []
            order.append(identity)
    return SpanTree(tuple(order), parent, {identity: tuple(below) for identity, below in children.items()})


def _parents_first(tops: list[int], children: Mapping[int, list[int]]) -> list[int]:
    order = list(tops)
    for identity in order:  # grows while it is walked
        order.extend(children[identity])
    return order


def sum_beneath(tree: SpanTree, values: Mapping[int, float]) -> dict[int, float]:
    """The value of each path with those of all that is inside it."""
    sums = dict(values)
    for identity in reversed(tree.order):
        above = tree.parent[identity]
        if above is not None:
            sums[above] += sums[identity]
    return sums


def is_root(path: Path) -> bool:
    """Whether a path stands for the thread itself."""
    return path.parent is None and path.name == ""


def is_structure(path: Path) -> bool:
    """Whether a path only frames work: the root of a thread, or a turn of the training loop."""
    return is_root(path) or path.kind == ITERATION


def phases_of(process: Process, tree: SpanTree) -> dict[int, str]:
    """The phase each path's own time counts towards.

    A span without a phase only subdivides its parent, so it takes the nearest phase above it. Iterations frame work
    and do none: what is beneath them looks through them, and their own time is unattributed.
    """
    inherited: dict[int, str | None] = {}  # what a path hands down to phase-less children
    phases: dict[int, str] = {}
    for identity in tree.order:
        path = process.paths[identity]
        above = tree.parent[identity]
        from_above = inherited[above] if above is not None else None
        if is_structure(path):
            inherited[identity], phases[identity] = from_above, UNATTRIBUTED
            continue
        inherited[identity] = own_phase(path) or from_above
        phases[identity] = inherited[identity] or OTHER
    return phases


def own_phase(path: Path) -> str | None:
    """The phase a path names itself, explicitly or by its name; an unknown phase counts as none."""
    if path.phase is not None and is_phase(path.phase):
        return path.phase
    return path.name if is_phase(path.name) else None


def names_of(process: Process, tree: SpanTree) -> dict[int, tuple[str, ...]]:
    """The chain of span names of each path, without the root."""
    names: dict[int, tuple[str, ...]] = {}
    for identity in tree.order:
        path = process.paths[identity]
        above = tree.parent[identity]
        prefix = names[above] if above is not None else ()
        names[identity] = prefix if is_root(path) else (*prefix, path.name)
    return names
