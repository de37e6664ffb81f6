"""What env steps and calls cost in the course of a run: each part of the ledger, stretch by stretch.

Rates are never cumulative: a stretch knows nothing of what was before it. It is long enough to hold turns of the loop
whole, so that collecting and learning do not alternate from one stretch to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.grid import Slices
from rlprof.analyse.ledger import Account
from rlprof.analyse.phases import enters_phase
from rlprof.analyse.slices import LaneSlices
from rlprof.analyse.startup import Startup
from rlprof.analyse.throughput import ENV_STEPS, EPISODES, UPDATES, counter_slices
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import FloatColumn, IntColumn, Recording

MOST_STRETCHES: Final = 48
#: Turns of the loop that a stretch holds at least.
TURNS: Final = 2.0
GARBAGE: Final = "gc"


@dataclass(frozen=True, slots=True)
class Pace:
    """One row per stretch after start-up. Garbage collection counts to what it happened in.

    `own_ns` and `calls` are by part of the ledger, of the thread it is about; the unattributed time has no calls.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    steps: FloatColumn
    episodes: FloatColumn
    updates: FloatColumn
    own_ns: Mapping[str, FloatColumn]
    calls: Mapping[str, FloatColumn]

    def __len__(self) -> int:
        return len(self.end_ns)

    def since(self, first: int) -> Pace:
        """Without the stretches before that one."""
        return Pace(
            start_ns=self.start_ns[first:],
            end_ns=self.end_ns[first:],
            steps=self.steps[first:],
            episodes=self.episodes[first:],
            updates=self.updates[first:],
            own_ns={part: own[first:] for part, own in self.own_ns.items()},
            calls={part: calls[first:] for part, calls in self.calls.items()},
        )


def pace_of(
    recording: Recording,
    account: Account,
    slices: LaneSlices,
    startup: Startup | None,
    most: int = MOST_STRETCHES,
) -> Pace | None:
    """The pace of the main process; None where its steps were not counted or nothing follows start-up."""
    first = _first_whole_slice(slices, startup)
    if first >= len(slices):
        return None
    parts = part_by_path(account)
    own, calls = _by_slice(account, slices, parts)
    edges = np.concatenate(([slices.start_ns[first]], slices.end_ns[first:]))
    counted = {name: _between(counter_slices(recording, name), edges) for name in (ENV_STEPS, EPISODES, UPDATES)}
    if float(counted[ENV_STEPS].sum()) <= 0:
        return None
    bounds = _bounds(counted[ENV_STEPS], edges, account, most)

    def joined(column: FloatColumn) -> FloatColumn:
        return np.add.reduceat(column, bounds) if len(column) else column

    return Pace(
        start_ns=edges[bounds],
        end_ns=edges[np.concatenate((bounds[1:], [len(edges) - 1]))],
        steps=joined(counted[ENV_STEPS]),
        episodes=joined(counted[EPISODES]),
        updates=joined(counted[UPDATES]),
        own_ns={part: joined(column[first:]) for part, column in own.items()},
        calls={part: joined(column[first:]) for part, column in calls.items()},
    )


def part_by_path(account: Account) -> dict[int, str]:
    """The part of the ledger that each path of the lane counts to; garbage collection to that of the span around."""
    parts: dict[int, str] = {}
    for identity in account.lane_paths:
        phase, above = account.phases[identity], account.tree.parent[identity]
        parts[identity] = parts.get(above, UNATTRIBUTED) if phase == GARBAGE and above is not None else phase
    return parts


def _first_whole_slice(slices: LaneSlices, startup: Startup | None) -> int:
    """The slice in which training began is part start-up: what it cost there says little."""
    if startup is None or not len(slices):
        return 1
    return int(np.argmax(startup.share < 1.0)) + 1


def _by_slice(
    account: Account, slices: LaneSlices, parts: Mapping[int, str]
) -> tuple[dict[str, FloatColumn], dict[str, FloatColumn]]:
    """Each part's time and calls, the time of calls that were only counted put where it belongs."""
    table = account.process.windows
    row = np.searchsorted(slices.end_ns, table.end_ns)
    own = {part: np.zeros(len(slices), np.float64) for part in set(parts.values())}
    calls = {part: np.zeros(len(slices), np.float64) for part in own if part != UNATTRIBUTED}
    order = np.argsort(table.path, kind="stable")
    paths, begins = np.unique(table.path[order], return_index=True)
    for path, rows in zip(paths.tolist(), np.split(order, begins[1:]), strict=True):
        part = parts.get(path)
        if part is None:
            continue
        time = np.maximum(table.self_ns[rows] - table.charged_ns[rows], 0).astype(np.float64)
        np.add.at(own[part], row[rows], time)
        above = account.tree.parent[path]
        moved = _untimed_ns(account, path, table.count[rows], table.total_ns[rows])
        if moved is not None and above is not None and parts[above] != part:
            np.add.at(own[part], row[rows], moved)
            np.subtract.at(own[parts[above]], row[rows], moved)
        if part in calls and account.phases[path] == part and enters_phase(account, path):
            np.add.at(calls[part], row[rows], table.count[rows].astype(np.float64))
    return {part: np.maximum(column, 0.0) for part, column in own.items()}, calls


def _untimed_ns(account: Account, path: int, count: IntColumn, total: IntColumn) -> FloatColumn | None:
    """What calls that were only counted took: as much each as those that were timed in the whole run."""
    stats = account.process.stats.get(path)
    if stats is None or not stats.untimed or stats.timed <= 0:
        return None
    each = stats.total_ns / stats.timed
    return np.asarray(np.maximum(count * each - total, 0.0), np.float64)


def _between(slices: Slices, edges: IntColumn) -> FloatColumn:
    """The amount between neighbouring edges; a slice's amount came about evenly in it."""
    if not len(slices.end_ns):
        return np.zeros(len(edges) - 1, np.float64)
    begin, end = slices.start_ns, np.maximum(slices.end_ns, slices.start_ns + 1)
    rate = slices.amount / (end - begin)
    moments, index = np.unique(np.concatenate((begin, end)), return_inverse=True)
    slope = np.cumsum(np.bincount(index, np.concatenate((rate, -rate)), len(moments)))
    reached = np.concatenate(([0.0], np.cumsum(slope[:-1] * np.diff(moments))))
    return np.maximum(np.diff(np.interp(edges, moments, reached)), 0.0)


def _bounds(steps: FloatColumn, edges: IntColumn, account: Account, most: int) -> IntColumn:
    """Where stretches begin: as many of about equal length as leave none without a step."""
    turns = account.process.iterations.duration_ns
    lasted = float(edges[-1] - edges[0])
    number = min(most, len(steps))
    if len(turns):
        number = min(number, int(lasted / max(TURNS * float(np.median(turns)), 1.0)))
    number = max(number, 1)
    while True:
        marks = edges[0] + lasted * np.arange(number) / number
        bounds = _without_a_sliver(np.unique(np.clip(np.searchsorted(edges, marks), 0, len(steps) - 1)), edges)
        if number == 1 or bool((np.add.reduceat(steps, bounds) > 0).all()):
            return bounds
        number = number * 3 // 4


def _without_a_sliver(bounds: IntColumn, edges: IntColumn) -> IntColumn:
    """The last stretch is what the program's end left of one: where that is little, it belongs to the one before."""
    if len(bounds) < 3 or edges[-1] - edges[bounds[-1]] >= (edges[bounds[-1]] - edges[bounds[-2]]) / 2:
        return bounds
    return bounds[:-1]
