"""Keeping rlprof's own cost within a share of the run: calls that come too often are counted, and some of them timed.

After each flush the cost of every path is known from its calls and the calibrated cost of one. What probes may cost is
shared out evenly: a path that needs less than its part is timed in full, one that needs more is thinned until it fits.
Places in the program and levels of an environment are thinned first, whole steps and forward passes only when that is
not enough, and nothing around a span that the program opens itself: those are all kept. So are whole calls that take
some hundred times what timing them does: thinning them would save next to nothing, and hide how they change. Places
that take little of the time are thinned within the budget, too, once they are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import Final

from rlprof import _core
from rlprof.model import kinds
from rlprof.model.recording import SpanCost

FINEST: Final = frozenset({kinds.SITE, kinds.LEVEL})
PROBED: Final = FINEST | {kinds.PROBE}
#: Of the budget, what is left to the finest spans when all the rest of it is taken.
LEAST_PART: Final = 0.2
#: Of what one flush says about all else that rlprof costs, no more counts than so many budgets.
MOST_CHARGED: Final = 2.0
#: Of a call that is kept whatever the budget, timing takes this share at the most.
SMALL_SHARE: Final = 0.005
#: Calls of a path that are timed in each flush, whatever it costs: fewer would say nothing about the rest.
FEWEST_TIMED: Final = 16
#: Calls from one place that are timed in full before the first look at what they cost: about 2 ms.
FIRST_IN_FULL: Final = 8192
NEVER: Final = 2**63
#: Of a place that is called more often than so many times a second and takes a small share of the time all the same,
#: one call in a few is timed once so many were: the others would add to its precision a thousandth of the run or less.
SETTLED_RATE: Final = 1200.0
SETTLED_CALLS: Final = 4096
SETTLED_SHARE: Final = 0.02
SETTLED_EVERY: Final = 8
#: How much of a new flush goes into the running average. Collecting and learning take turns of seconds.
FRESH: Final = 0.3

_TIMES: Final = ("path", "count", "untimed", "total")

PathRow = tuple[int, int | None, int, str, str | None, int]


class Budget:
    """Follows what each path costs and thins those that cost too much."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._unit: dict[int, float] = {}
        self._parent: dict[int, int | None] = {}
        self._kind: dict[int, int] = {}
        self._around_users: set[int] = set()
        self._demand: dict[int, float] = {}  # ns per second that timing every call would cost
        self._calls: dict[int, float] = {}  # per flush
        self._length: dict[int, float] = {}  # ns of a call, when it was last timed
        self._timed: dict[int, int] = {}  # calls so far
        self._charged = 0.0  # ns per second that all else costs
        self._judged: set[int] = set()
        self._flushes = 0
        _core.thin_unjudged_above(FIRST_IN_FULL if share < 1 else NEVER)

    def know(self, costs: Mapping[int, SpanCost]) -> None:
        """What each kind of span costs, as far as that is known by now."""
        self._unit = {kind: cost.inside_ns + cost.outside_ns for kind, cost in costs.items()}

    def learn_paths(self, paths: Iterable[PathRow]) -> None:
        """New paths, parents before children."""
        for number, parent, _, _, _, kind in paths:
            self._parent[number] = parent
            self._kind[number] = kind
            above = parent if kind not in PROBED else None
            while above is not None and above not in self._around_users:
                self._around_users.add(above)
                _core.thin(above, 1)
                above = self._parent.get(above)

    def follow(self, seconds: float, rows: Mapping[str, Sequence[int]]) -> None:
        """Take in what one flush of so many seconds brought, and set how the next calls are timed."""
        if seconds <= 0 or self._share >= 1:
            return
        self._flushes += 1
        self._average(seconds, rows)
        now = dict(_core.thinnable())
        finest, probes, long, fixed = self._groups(set(now))
        self._share_out(now, long, sum(long.values()))
        budget = self._share * 1e9
        room = budget - fixed - sum(probes.values())
        if room < LEAST_PART * budget:
            room = LEAST_PART * budget
            self._share_out(now, probes, max(budget - fixed - room, LEAST_PART * budget))
        else:
            self._share_out(now, probes, sum(probes.values()))
        self._share_out(now, finest, room, self._settled(finest, seconds))

    def _average(self, seconds: float, rows: Mapping[str, Sequence[int]]) -> None:
        weight = max(FRESH, 1 / self._flushes)
        for averages in (self._demand, self._calls):
            for path in averages:
                averages[path] *= 1 - weight
        for path, count in zip(rows["path"], rows["count"], strict=True):
            if count:
                cost = count * self._unit.get(self._kind.get(path, -1), 0.0) / seconds
                self._demand[path] = self._demand.get(path, 0.0) + weight * cost
                self._calls[path] = self._calls.get(path, 0.0) + weight * count
        for path, count, untimed, total in zip(*(rows[name] for name in _TIMES), strict=True):
            if count > untimed:
                self._length[path] = total / (count - untimed)
                self._timed[path] = self._timed.get(path, 0) + count - untimed
        # Imports and other spikes are over before thinning could make up for them.
        charged = min(sum(rows["charged"]) / seconds, MOST_CHARGED * self._share * 1e9)
        self._charged += weight * (charged - self._charged)

    def _groups(self, thinnable: set[int]) -> tuple[dict[int, float], dict[int, float], dict[int, float], float]:
        """What the finest spans would cost, by the outermost of them; whole calls; long ones; all that is kept."""
        can = thinnable - self._around_users
        finest: dict[int, float] = {}
        probes: dict[int, float] = {}
        long: dict[int, float] = {}
        fixed = self._charged
        for path, demand in self._demand.items():
            top = self._outermost(path, can)
            if top is not None:
                finest[top] = finest.get(top, 0.0) + demand
            elif path in can and not self._is_long(path):
                probes[path] = demand
            else:
                fixed += demand
                if path in can:
                    long[path] = demand
        return finest, probes, long, fixed

    def _is_long(self, path: int) -> bool:
        return self._unit.get(self._kind.get(path, -1), 0.0) < SMALL_SHARE * self._length.get(path, 0.0)

    def _settled(self, finest: Iterable[int], seconds: float) -> set[int]:
        """Places that are known well enough, in a flush of so many seconds."""
        most, fewest = SETTLED_SHARE * seconds * 1e9, SETTLED_RATE * seconds
        return {
            path
            for path in finest
            if self._kind.get(path) == kinds.SITE
            and self._timed.get(path, 0) >= SETTLED_CALLS
            and fewest < self._calls.get(path, 0.0)
            and self._calls[path] * self._length.get(path, 0.0) < most
            and not self._is_long(path)
        }

    def _outermost(self, path: int, can: set[int]) -> int | None:
        """The outermost of the fine spans around a path without a gap, itself among them."""
        top = None
        step: int | None = path
        while step is not None and step in can and self._kind.get(step) in FINEST:
            top = step
            step = self._parent.get(step)
        return top

    def _share_out(
        self, now: Mapping[int, int], demand: Mapping[int, float], room: float, settled: Collection[int] = ()
    ) -> None:
        """Thin those that want more than their part, and those that are `settled`; `now` says how they are by now."""
        part = even_part(list(demand.values()), room)
        for path, wanted in demand.items():
            most = max(self._calls.get(path, 0.0) / FEWEST_TIMED, 1.0)
            every = ceil(min(wanted / part, most)) if part > 0 else ceil(most)
            if path in settled:
                every = max(every, min(SETTLED_EVERY, ceil(most)))
            if path not in self._judged or every != now.get(path, 1):
                self._judged.add(path)
                _core.thin(path, every)


def even_part(wanted: Sequence[float], room: float) -> float:
    """The part of each, so that those who want less get what they want and all together get `room`."""
    left = room
    for number, want in enumerate(sorted(wanted)):
        part = left / (len(wanted) - number)
        if want >= part:
            return part
        left -= want
    return max(wanted, default=0.0)
