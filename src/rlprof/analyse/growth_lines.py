"""Which lines of the program a growing cost is in: those that take more per env step at its end than before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rlprof.analyse.growth import Growth, thirds_of
from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.lines import interval
from rlprof.analyse.pace import Pace, part_by_path
from rlprof.analyse.places import Sights, Spot
from rlprof.model.recording import IntColumn


@dataclass(frozen=True, slots=True)
class GrownLine:
    """A line of the user's within a growing part. Seconds are estimated from stack samples."""

    spot: Spot
    first_per_step: float
    last_per_step: float
    seconds: float  # in all
    high_seconds: float  # the upper end of its 95% interval
    samples: int

    @property
    def rise(self) -> float:
        return self.last_per_step - self.first_per_step


@dataclass(frozen=True, slots=True)
class _Third:
    seconds: float
    steps: float
    samples: int
    by_spot: Mapping[Spot, int]

    def seconds_of(self, spot: Spot) -> float:
        return self.seconds * self.by_spot.get(spot, 0) / self.samples if self.samples else 0.0


def grown_lines(account: Account, pace: Pace, growth: Growth) -> tuple[GrownLine, ...]:
    """The user's lines in a growing part, those that rose most first; empty where no samples tell."""
    table = account.samples
    if table.end_ns is None or not len(table.end_ns):
        return ()
    seen = pace.since(growth.since)
    parts = part_by_path(account)
    mine = np.array([parts.get(path) == growth.part for path in table.path.tolist()], np.bool_)
    sights = Sights(table.frames)
    thirds = []
    for rows in thirds_of(seen.steps):
        inside = mine & (table.end_ns > seen.start_ns[rows[0]]) & (table.end_ns <= seen.end_ns[rows[-1]])
        by_spot, samples = _counted(sights, table.frame[inside], table.count[inside])
        time = float(seen.own_ns[growth.part][rows].sum()) / NS_PER_SECOND
        thirds.append(_Third(time, float(seen.steps[rows].sum()), samples, by_spot))
    spots = {spot for third in thirds for spot in third.by_spot}
    return tuple(sorted((_line(spot, thirds) for spot in spots), key=lambda line: line.rise, reverse=True))


def _counted(sights: Sights, frames: IntColumn, counts: IntColumn) -> tuple[dict[Spot, int], int]:
    """Samples by line of the user's, and all of them."""
    by_spot: dict[Spot, int] = {}
    for frame, count in zip(frames.tolist(), counts.tolist(), strict=True):
        sight = sights.at(frame)
        if sight is not None and sight.own:
            by_spot[sight.spot] = by_spot.get(sight.spot, 0) + count
    return by_spot, int(counts.sum())


def _line(spot: Spot, thirds: list[_Third]) -> GrownLine:
    seconds = sum(third.seconds_of(spot) for third in thirds)
    whole = sum(third.seconds for third in thirds)
    samples = sum(third.samples for third in thirds)
    high = interval(seconds / whole if whole > 0 else 0.0, samples)[1] * whole
    first, last = (third.seconds_of(spot) / third.steps if third.steps > 0 else 0.0 for third in (thirds[0], thirds[2]))
    return GrownLine(
        spot, first, last, seconds, max(high, seconds), sum(third.by_spot.get(spot, 0) for third in thirds)
    )
