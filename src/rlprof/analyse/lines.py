"""Each part of the ledger down to the user's own lines, by stack samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rlprof.analyse.ledger import Account
from rlprof.analyse.places import Sight, Sights, Spot
from rlprof.analyse.slices import LaneSlices
from rlprof.analyse.startup import Startup
from rlprof.analyse.weights import WeightedSamples, weighted_samples
from rlprof.model.report import Drilldown, LibraryCall, LineEntry

MOST_LINES: Final = 50
MOST_CALLS: Final = 3
#: Of a normal distribution: the interval that holds the truth in 95 cases of 100.
_Z: Final = 1.96


@dataclass(slots=True)
class _Sum:
    seconds: float = 0.0
    samples: int = 0
    own: bool = True
    below: dict[tuple[str, str], _Sum] = field(default_factory=dict)  # by file and function
    lines: dict[int, float] = field(default_factory=dict)  # seconds by line, of a function

    def add(self, seconds: float, samples: int) -> None:
        self.seconds += seconds
        self.samples += samples


def drilldown_of(account: Account, slices: LaneSlices, startup: Startup | None) -> tuple[Drilldown, ...] | None:
    """Every part that has time, down to lines; None where no stack was sampled."""
    if not int(account.samples.count.sum()):
        return None
    sights = Sights(account.samples.frames)
    parts = tuple(weighted_samples(account, slices, startup))
    seconds = sum(part.total_seconds for part in parts)
    rate = sum(int(part.count.sum()) for part in parts) / seconds if seconds > 0 else 0.0
    return tuple(_drill(part, sights, account.wall_seconds, rate) for part in parts)


def _drill(samples: WeightedSamples, sights: Sights, wall_seconds: float, rate: float) -> Drilldown:
    sums = _by_line(samples, sights)
    seen = float(samples.seconds.sum())
    missed = max(samples.total_seconds - seen, 0.0)
    effective = _effective(samples)
    ranked = sorted(sums.items(), key=lambda item: item[1].seconds, reverse=True)[:MOST_LINES]
    lines = tuple(_entry(spot, total, seen, missed, effective, wall_seconds) for spot, total in ranked)
    return Drilldown(
        part=samples.part,
        seconds=samples.total_seconds,
        samples=int(samples.count.sum()),
        expected_samples=rate * samples.total_seconds,
        lines=lines,
        other_seconds=max(seen - sum(line.seconds for line in lines), 0.0),
        unsampled_seconds=missed,
    )


def _by_line(samples: WeightedSamples, sights: Sights) -> dict[Spot, _Sum]:
    """Seconds and samples of each line. A stack without any frame is no line's."""
    sums: dict[Spot, _Sum] = {}
    for sight, seconds, count in _by_stack(samples, sights):
        line = sums.setdefault(sight.spot, _Sum(own=sight.own))
        line.add(seconds, count)
        if sight.below is not None:
            call = line.below.setdefault((sight.below.file, sight.below.function), _Sum())
            call.add(seconds, count)
            call.lines[sight.below.line] = call.lines.get(sight.below.line, 0.0) + seconds
    return sums


def _by_stack(samples: WeightedSamples, sights: Sights) -> Iterator[tuple[Sight, float, int]]:
    frames, rows = np.unique(samples.frame, return_inverse=True)
    seconds = np.bincount(rows, samples.seconds, len(frames))
    counts = np.bincount(rows, samples.count, len(frames))
    for frame, taken, count in zip(frames.tolist(), seconds.tolist(), counts.tolist(), strict=True):
        sight = sights.at(frame)
        if sight is not None:
            yield sight, taken, int(count)


def _effective(samples: WeightedSamples) -> float:
    """How many equal samples would say as much: those that stand for more time than others are fewer than they seem."""
    squares = float((samples.seconds**2 / np.maximum(samples.count, 1)).sum())
    return float(samples.seconds.sum()) ** 2 / squares if squares > 0 else 0.0


def _entry(spot: Spot, total: _Sum, seen: float, missed: float, effective: float, wall: float) -> LineEntry:
    low, high = interval(total.seconds / seen if seen > 0 else 0.0, effective)
    calls = sorted(total.below.items(), key=lambda item: item[1].seconds, reverse=True)[:MOST_CALLS]
    return LineEntry(
        file=spot.file,
        line=spot.line,
        function=spot.function,
        own=total.own,
        seconds=total.seconds,
        low_seconds=min(low * seen, total.seconds),
        high_seconds=max(high * seen, total.seconds) + missed,  # what nobody saw may have been this line's
        share=total.seconds / wall if wall > 0 else 0.0,
        samples=total.samples,
        calling=tuple(
            LibraryCall(file, max(below.lines, key=below.lines.__getitem__), function, below.seconds, below.samples)
            for (file, function), below in calls
        ),
    )


def interval(share: float, samples: float) -> tuple[float, float]:
    """Wilson's 95% interval of a share that was seen in so many samples."""
    if samples <= 0:
        return 0.0, 1.0
    scale = 1.0 + _Z**2 / samples
    middle = (share + _Z**2 / (2 * samples)) / scale
    spread = _Z / scale * math.sqrt(max(share * (1 - share), 0.0) / samples + (_Z / (2 * samples)) ** 2)
    return max(middle - spread, 0.0), min(middle + spread, 1.0)
