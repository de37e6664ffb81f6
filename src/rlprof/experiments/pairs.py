"""Measuring things side by side: in turns, compared round by round, summed up by medians with their interval."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb


def interleave(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure every case once per round. The order turns from round to round, so that none is always first."""
    names = list(cases)
    values: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            values[name].append(cases[name]())
    return values


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Round by round, so that what slows the whole machine for a moment cancels out."""
    return [a / b for a, b in zip(above, below, strict=True)]


@dataclass(frozen=True)
class Spread:
    """A median with the interval that holds the true one in at least 95 of 100 cases (order statistics).

    Fewer than six values cannot give such an interval: then it is their whole range.
    """

    median: float
    low: float
    high: float
    n: int

    def text(self, digits: int = 2, unit: str = "") -> str:
        numbers = f"{self.median:.{digits}f}{unit}"
        if self.n < 2:
            return numbers
        return f"{numbers} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def spread(values: Sequence[float], level: float = 0.95) -> Spread:
    """The median of the values and its interval, free of any assumption about how they are distributed."""
    if not values:
        raise ValueError("no values to summarise")
    ordered, n = sorted(values), len(values)
    outside = 0
    tail = 0.0
    # Each side may leave out the ranks whose binomial weight stays below half of what the level allows.
    while outside < (n - 1) // 2 and (tail := tail + comb(n, outside) / 2**n) <= (1 - level) / 2:
        outside += 1
    outside = max(outside - 1, 0)
    return Spread(statistics.median(ordered), ordered[outside], ordered[n - 1 - outside], n)
