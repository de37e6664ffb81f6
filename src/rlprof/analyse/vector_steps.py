"""The steps of a vector environment whose moments are known in the parent and in every worker, and their split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.model.noted_slots import SLOT_BITS, level_of
from rlprof.model.recording import FloatColumn, IntColumn, Process
from rlprof.model.stretch_kinds import SENT, SIMULATED, WAITED

#: Two standard errors hold the truth 95 times in 100.
STANDARD_ERRORS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Steps:
    """Noted steps of the parent: it sends, may do something else, and waits."""

    sent_ns: IntColumn
    sent_end_ns: IntColumn
    waited_ns: IntColumn
    end_ns: IntColumn

    @property
    def duration_ns(self) -> IntColumn:
        """The parent's time in the step; what it does between sending and waiting is not part of it."""
        return self.sent_end_ns - self.sent_ns + self.end_ns - self.waited_ns

    def where(self, rows: IntColumn) -> Steps:
        return Steps(self.sent_ns[rows], self.sent_end_ns[rows], self.waited_ns[rows], self.end_ns[rows])


@dataclass(frozen=True, slots=True)
class Intervals:
    """Stretches of one process, or of several, put together where they overlap."""

    start_ns: IntColumn
    end_ns: IntColumn

    def inside(self, steps: Steps) -> IntColumn:
        """How much of them falls into the parent's time in each step."""
        return (
            self._before(steps.sent_end_ns)
            - self._before(steps.sent_ns)
            + self._before(steps.end_ns)
            - self._before(steps.waited_ns)
        )

    def _before(self, at_ns: IntColumn) -> IntColumn:
        sums = np.concatenate(([0], np.cumsum(self.end_ns - self.start_ns)))
        begun = np.searchsorted(self.start_ns, at_ns, side="right")
        last = np.maximum(begun - 1, 0)
        running = np.maximum(self.end_ns[last] - at_ns, 0) if len(self.end_ns) else 0
        return np.asarray(sums[begun] - np.where(begun > 0, running, 0), np.int64)


@dataclass(frozen=True, slots=True)
class Measured:
    """The steps that all workers took part in, one row each. Seconds of workers are those inside the parent's step."""

    weight: FloatColumn  # how many steps of the run each stands for
    cluster: IntColumn  # steps of one slot are not independent of each other
    step_ns: FloatColumn
    mean_ns: FloatColumn  # the mean worker's simulator
    slowest_ns: FloatColumn
    any_ns: FloatColumn  # at least one worker's simulator ran
    slowest: IntColumn  # which worker


def noted_steps(parent: Process, env: int) -> Steps:
    """The steps of one vector environment that the parent noted, in order."""
    table = parent.stretches
    rows = np.flatnonzero((table.env == env) & ((table.what == SENT) | (table.what == WAITED)))
    rows = rows[np.lexsort((table.what[rows], table.start_ns[rows]))]
    what = table.what[rows]
    first = np.flatnonzero((what[:-1] == SENT) & (what[1:] == WAITED))
    sent, waited = rows[first], rows[first + 1]
    sent_end = table.start_ns[sent] + np.maximum(table.duration_ns[sent], 0)
    # A call that sends and waits holds its wait: no moment counts twice.
    wait = np.maximum(table.start_ns[waited], sent_end)
    end = np.maximum(table.start_ns[waited] + np.maximum(table.duration_ns[waited], 0), wait)
    return Steps(table.start_ns[sent], sent_end, wait, end)


def simulating(processes: Iterable[Process]) -> Intervals:
    """When at least one of these processes' environments stepped or was reset, as far as it was noted."""
    starts, ends = [], []
    for process in processes:
        rows = process.stretches.what == SIMULATED
        starts.append(process.stretches.start_ns[rows])
        ends.append(starts[-1] + np.maximum(process.stretches.duration_ns[rows], 0))
    start = np.concatenate(starts) if starts else np.empty(0, np.int64)
    end = np.concatenate(ends) if ends else np.empty(0, np.int64)
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order]) if len(end) else end
    fresh = np.flatnonzero(np.concatenate(([True], start[1:] > reach[:-1]))) if len(start) else np.empty(0, np.int64)
    last = np.concatenate((fresh[1:] - 1, [len(start) - 1])) if len(fresh) else fresh
    return Intervals(start[fresh], reach[last])


def measure(parent: Process, env: int, workers: Sequence[Process]) -> Measured:
    """The parent's noted steps in which every worker is seen to have simulated."""
    steps = noted_steps(parent, env)
    each = [simulating([worker]) for worker in workers]
    whole = Steps(steps.sent_ns, steps.end_ns, steps.end_ns, steps.end_ns)
    complete = np.ones(len(steps.end_ns), np.bool_)
    for intervals in each:
        complete &= intervals.inside(whole) > 0  # be it while the parent was elsewhere
    steps = steps.where(np.flatnonzero(complete))
    total = np.zeros(len(steps.end_ns), np.int64)
    longest = np.full(len(steps.end_ns), -1, np.int64)
    slowest = np.zeros(len(steps.end_ns), np.int64)
    for number, intervals in enumerate(each):
        inside = intervals.inside(steps)
        slowest[inside > longest] = number
        longest = np.maximum(longest, inside)
        total += inside
    slot = steps.sent_ns >> SLOT_BITS
    return Measured(
        weight=_weights(slot, _first_slot(parent)),
        cluster=slot,
        step_ns=steps.duration_ns.astype(np.float64),
        mean_ns=total / max(len(each), 1),
        slowest_ns=np.maximum(longest, 0).astype(np.float64),
        any_ns=simulating(workers).inside(steps).astype(np.float64),
        slowest=slowest,
    )


def _first_slot(parent: Process) -> int:
    """Where the parent's age began for the choice of slots: its first step, which is always noted."""
    sent = parent.stretches.start_ns[parent.stretches.what == SENT]
    return int(sent.min()) >> SLOT_BITS if len(sent) else 0


def _weights(slots: IntColumn, first: int) -> FloatColumn:
    distinct, rows = np.unique(slots, return_inverse=True)
    return np.array([2.0 ** level_of(int(slot), first) for slot in distinct], np.float64)[rows]


def share_of(part_ns: FloatColumn, measured: Measured) -> float:
    """A part of the steps as a share of the parent's time in them."""
    return float((measured.weight * part_ns).sum() / (measured.weight * measured.step_ns).sum())


def error_of(part_ns: FloatColumn, measured: Measured, covered: float) -> float | None:
    """How far such a share may be off; `covered` is the share of all steps that was measured."""
    if covered >= 1.0:
        return 0.0
    _, rows = np.unique(measured.cluster, return_inverse=True)
    left = measured.weight * (part_ns - share_of(part_ns, measured) * measured.step_ns)
    sums = np.bincount(rows, left)
    if len(sums) < 2:
        return None
    variance = float((sums**2).sum()) * len(sums) / (len(sums) - 1) * (1.0 - covered)
    return STANDARD_ERRORS * float(np.sqrt(variance)) / float((measured.weight * measured.step_ns).sum())
