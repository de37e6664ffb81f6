"""How fast a phase of a program's schedule is against how fast it should be on such a device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.rollouts import RolloutTree

#: Slower than this share of the lower end is worth a look: machines differ, but not by that much.
FLAGGED_BELOW: Final = 0.5


@dataclass(frozen=True, slots=True)
class Expectation:
    """Steps per second that a phase should have on a kind of device."""

    device: str
    phase: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PhaseSpeed:
    phase: str
    device: str
    sps: float | None
    expected: Expectation | None  # None where the table says nothing about it
    flagged: bool

    @property
    def share(self) -> float | None:
        """Of the lower end of what is expected."""
        return self.sps / self.expected.low if self.sps is not None and self.expected is not None else None


def compare_speeds(trees: Iterable[RolloutTree], device: str, table: Iterable[Expectation]) -> list[PhaseSpeed]:
    """Each phase beside what the table says about it on this kind of device."""
    known = {(row.device, row.phase): row for row in table}
    speeds: list[PhaseSpeed] = []
    for tree in trees:
        expected = known.get((device, tree.phase))
        slow = expected is not None and tree.sps is not None and tree.sps < FLAGGED_BELOW * expected.low
        speeds.append(PhaseSpeed(tree.phase, device, tree.sps, expected, slow))
    return speeds
