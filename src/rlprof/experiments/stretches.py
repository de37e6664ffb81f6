"""What a process did between two moments: seconds by path, corrected for rlprof's own cost, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rlprof.analyse.grid import Slices
from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.throughput import ENV_STEPS, counter_slices, counting_processes, iterating_process
from rlprof.analyse.tree import is_root
from rlprof.model.recording import FloatColumn, IntColumn, Recording


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one moment to another, on the machine's monotonic clock.

    `loop_ns` says how much of it the training loop took, where that is less: what is in no span beyond that came before
    or after the loop.
    """

    start_ns: int
    end_ns: int
    loop_ns: int | None = None


class Timeline:
    """The windows of one process in order of time, ready to be cut into stretches."""

    def __init__(self, account: Account, recording: Recording) -> None:
        table = account.process.windows
        lane = np.isin(table.path, np.array(account.lane_paths, np.int64))
        order = np.argsort(table.start_ns[lane], kind="stable")
        self._path: IntColumn = table.path[lane][order]
        self._own = Slices(
            table.start_ns[lane][order], table.end_ns[lane][order], table.self_ns[lane][order].astype(np.float64)
        )
        self._true_share = _true_shares(account)
        self._root = next((path for path in account.lane_paths if is_root(account.process.paths[path])), -1)
        steps = counter_slices(recording, ENV_STEPS)
        self.steps = _in_order(steps)
        self.counts_steps = bool(counting_processes(recording, ENV_STEPS)) and len(steps.start_ns) > 0
        turning = iterating_process(recording)
        none = np.empty(0, np.int64)
        self.turn_starts = turning.iterations.start_ns if turning is not None else none
        self.turn_ends = self.turn_starts + turning.iterations.duration_ns if turning is not None else none

    @property
    def is_empty(self) -> bool:
        return not len(self._path)

    def edge_at_or_after(self, moment: int) -> int | None:
        """The first end of a window that is not before `moment`: only there is it known exactly who did what."""
        later = self._own.end_ns[self._own.end_ns >= moment]
        return int(later.min()) if len(later) else None

    def edge_before(self, moment: int) -> int:
        """The last start of a window that is not after `moment`."""
        earlier = self._own.start_ns[self._own.start_ns <= moment]
        return int(earlier.max()) if len(earlier) else moment

    def seconds_by_path(self, stretch: Stretch) -> dict[int, float]:
        rows = _overlapping(self._own, stretch)
        inside = _inside(self._own, rows, stretch)
        if stretch.loop_ns is not None:
            rooted = self._path[rows] == self._root
            spans, root = float(inside[~rooted].sum()), float(inside[rooted].sum())
            inside[rooted] *= min(max(stretch.loop_ns - spans, 0.0) / root, 1.0) if root > 0 else 1.0
        sums = np.asarray(np.bincount(self._path[rows], inside), dtype=np.float64)
        return {
            int(path): float(sums[path]) * self._true_share.get(int(path), 1.0) / NS_PER_SECOND
            for path in np.nonzero(sums)[0]
        }

    def steps_in(self, stretch: Stretch) -> float:
        return float(_inside(self.steps, _overlapping(self.steps, stretch), stretch).sum())

    def turns_in(self, stretch: Stretch) -> int:
        """By their middles: a turn begins a little before or after the moment that a window does."""
        middles = self.turn_starts + (self.turn_ends - self.turn_starts) // 2
        return int(np.sum((middles >= stretch.start_ns) & (middles < stretch.end_ns)))


def _true_shares(account: Account) -> Mapping[int, float]:
    """How much of each path's measured time was the program's: the same in every window, as costs are known in sum."""
    shares = {}
    for path in account.lane_paths:
        raw = account.self_ns[path] + account.taken_ns[path]
        shares[path] = account.self_ns[path] / raw if raw > 0 else 1.0
    return shares


def _in_order(slices: Slices) -> Slices:
    order = np.argsort(slices.start_ns, kind="stable")
    return Slices(slices.start_ns[order], slices.end_ns[order], slices.amount[order])


def _overlapping(slices: Slices, stretch: Stretch) -> slice:
    """The rows that may reach into a stretch: windows follow each other, so neither starts nor ends go back."""
    first = int(np.searchsorted(np.maximum.accumulate(slices.end_ns), stretch.start_ns, side="right"))
    last = int(np.searchsorted(slices.start_ns, stretch.end_ns, side="left"))
    return slice(first, max(last, first))


def _inside(slices: Slices, rows: slice, stretch: Stretch) -> FloatColumn:
    """The amounts of these rows by their overlap with the stretch."""
    start, end, amount = slices.start_ns[rows], slices.end_ns[rows], slices.amount[rows]
    length = np.maximum(end - start, 1)
    overlap = np.minimum(end, stretch.end_ns) - np.maximum(start, stretch.start_ns)
    return np.asarray(amount * np.clip(overlap, 0, None) / length, dtype=np.float64)
