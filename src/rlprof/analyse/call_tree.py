"""The call tree of a run: its spans, and below them the functions that stack samples saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rlprof.analyse.call_layout import WHOLE, CallTree, GrowingNode, lay_out
from rlprof.analyse.ledger import NS_PER_SECOND, Account, open_account
from rlprof.analyse.phases import calls_of
from rlprof.analyse.stacks import callers, name_of
from rlprof.analyse.tree import is_root
from rlprof.model.own_files import is_ours
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Frame, IntColumn, Process, Recording, SampleTable, Thread

#: Functions deeper than this below their span are left to the one that called them.
DEEPEST: Final = 40
#: Paths times frames that are counted in one table.
MOST_CELLS: Final = 4_000_000
#: Threads with less time than this in spans or samples are left out.
SHORTEST_SECONDS: Final = 0.001

Stack = tuple[tuple[str, str, int], ...]  # file, function and line of each call, the outermost first


def call_trees(recording: Recording) -> tuple[CallTree, ...]:
    """The thread that trains first, then other threads of the main process, then all other processes together."""
    main = open_account(recording.main)
    found = [_tree_of_thread(main, thread) for thread in _threads(main)]
    others = recording.processes[1:]
    if others:
        top = GrowingNode(WHOLE, UNATTRIBUTED)
        for process in others:
            _add_process(top, process)
        noun = "other process" if len(others) == 1 else "other processes together"
        found.append(lay_out(f"{len(others)} {noun}", top))
    return tuple(tree for tree in found if tree.seconds >= SHORTEST_SECONDS and len(tree.nodes) > 1)


def _threads(account: Account) -> list[Thread]:
    first = account.lane.id if account.lane is not None else None
    return sorted(account.process.threads, key=lambda thread: thread.id != first)


def _tree_of_thread(account: Account, thread: Thread) -> CallTree:
    top = GrowingNode(WHOLE, UNATTRIBUTED)
    _add_thread(top, account, thread.id)
    return lay_out(f"{account.process.role} process, {thread.name}", top)


def _add_process(top: GrowingNode, process: Process) -> None:
    account = open_account(process)
    if account.lane is not None:
        _add_thread(top, account, account.lane.id)


def _add_thread(top: GrowingNode, account: Account, thread: int) -> None:
    """Every path of a thread with its own time, which the functions sampled in it divide."""
    process = account.process
    sampled = _samples_by_path(account.samples)
    stacks = _Stacks(account.samples.frames)
    nodes: dict[int, GrowingNode] = {}
    for identity in account.tree.order:
        path = process.paths[identity]
        if path.thread != thread:
            continue
        above = account.tree.parent[identity]
        parent = nodes.get(above, top) if above is not None else top
        phase = account.phases[identity]
        node = nodes[identity] = parent if is_root(path) else parent.child(path.name, phase)
        own = account.self_ns[identity] / NS_PER_SECOND
        node.own += own
        node.calls += 0 if is_root(path) else calls_of(account, identity)
        _add_functions(node, own, stacks.below_a_span(sampled.get(identity, ())))


def _samples_by_path(samples: SampleTable) -> dict[int, list[tuple[int, int]]]:
    """The leaves of the stacks that were sampled in each path, and how often."""
    found: dict[int, list[tuple[int, int]]] = {}
    if not len(samples.path):
        return found
    most = int(samples.frame.max()) + 1
    for pair, count in _added_up(samples.path * most + samples.frame, samples.count):
        found.setdefault(pair // most, []).append((pair % most, count))
    return found


def _added_up(keys: IntColumn, counts: IntColumn) -> Iterator[tuple[int, int]]:
    """The sum of the counts of each key. An hour has many rows and few keys, which need no sorting."""
    least, largest = int(keys.min()), int(keys.max())
    if least >= 0 and largest < MOST_CELLS:
        sums = np.bincount(keys, counts)
        known = np.flatnonzero(sums)
        yield from zip(known.tolist(), map(int, sums[known].tolist()), strict=True)
        return
    known, rows = np.unique(keys, return_inverse=True)
    yield from zip(known.tolist(), map(int, np.bincount(rows, counts, len(known)).tolist()), strict=True)


@dataclass(slots=True)
class _Stacks:
    """Sampled stacks from the outermost function on, without rlprof's own; each is walked once."""

    frames: Mapping[int, Frame]
    known: dict[int, Stack] = field(default_factory=dict)

    def below_a_span(self, leaves: Sequence[tuple[int, int]]) -> list[tuple[Stack, int]]:
        """Without the callers that all of them have in common but the innermost."""
        found = [(self.of(leaf), count) for leaf, count in leaves]
        shared = max(_in_common([stack for stack, _ in found]) - 1, 0)
        return [(stack[shared:][:DEEPEST], count) for stack, count in found]

    def of(self, leaf: int) -> Stack:
        if leaf not in self.known:
            kept = (frame for frame in reversed(callers(self.frames, leaf)) if not is_ours(frame.file))
            self.known[leaf] = tuple((*name_of(frame), frame.line) for frame in kept)
        return self.known[leaf]


def _in_common(stacks: Sequence[Stack]) -> int:
    if not stacks:
        return 0
    depth = min(map(len, stacks))
    first = stacks[0]
    for stack in stacks:
        while any(stack[level][:2] != first[level][:2] for level in range(depth)):
            depth -= 1
    return depth


def _add_functions(span: GrowingNode, seconds: float, stacks: Sequence[tuple[Stack, int]]) -> None:
    taken = sum(count for _, count in stacks)
    if taken <= 0:
        return
    for stack, count in stacks:
        node = span
        for file, function, line in stack:
            node = node.child(function, span.phase, file, line)
        if node is not span:
            node.own += seconds * count / taken
