"""What the recorder costs in this program: measured at start in a loop, then corrected by what is seen in the program.

A span in a loop of nothing but spans finds everything in the caches. In a program, where networks and simulators use
them in between, it costs several times as much. The core looks at some of the calls that probes see, both in the loop
and in the program; the difference between the two is what the caches make of it, and is added to what was measured at
start. What comes before the recorder is entered and after it is left is the loop's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rlprof.model.recording import SpanCost

#: Calls of a kind that were looked at, before they say more than the loop does.
ENOUGH_LOOKS: Final = 20

#: What was looked at, by kind: how many calls, nanoseconds inside their spans, nanoseconds outside.
Looks = Mapping[int, tuple[int, int, int]]


class Calibration(NamedTuple):
    """The costs that were measured at start, and what looking at calls gave in the same loops."""

    costs: dict[int, SpanCost]
    looks: Looks


class OwnCost:
    """The cost of each kind of span and call so far in this program."""

    def __init__(self, calibration: Calibration) -> None:
        self._at_start = calibration
        self._looks: dict[int, tuple[int, int, int]] = {}

    def see(self, looks: Looks) -> None:
        """Take in what was looked at since the last time."""
        self._looks = add_looks(self._looks, looks)

    def costs(self) -> dict[int, SpanCost]:
        return {kind: self._in_place(kind, cost) for kind, cost in self._at_start.costs.items()}

    def _in_place(self, kind: int, cost: SpanCost) -> SpanCost:
        before, here = self._at_start.looks.get(kind), self._looks.get(kind)
        if before is None or here is None or here[0] < ENOUGH_LOOKS:
            return cost
        inside = max(0.0, here[1] / here[0] - before[1] / before[0])
        outside = max(0.0, here[2] / here[0] - before[2] / before[0])
        # Looking reads the clock once more in each part, at a cost that has grown like the rest: half of it is doubted.
        return SpanCost(cost.inside_ns + inside, cost.outside_ns + outside, max(cost.error_ns, (inside + outside) / 2))


def add_looks(first: Looks, second: Looks) -> dict[int, tuple[int, int, int]]:
    nothing = (0, 0, 0)
    return {
        kind: (one[0] + other[0], one[1] + other[1], one[2] + other[2])
        for kind in first.keys() | second.keys()
        for one, other in [(first.get(kind, nothing), second.get(kind, nothing))]
    }
