"""Whether a series rises for good: rank tests and fits that a few outliers and a single jump do not fool."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.model.recording import FloatColumn

#: Exponents that are tried: a root, a straight line, a square, and what lies between and beyond.
EXPONENTS: Final = tuple(round(0.25 + 0.05 * index, 2) for index in range(56))
#: Of a normal distribution: the interval that holds the truth in 95 cases of 100.
_Z: Final = 1.96


@dataclass(frozen=True, slots=True)
class Line:
    """The typical slope of a series with its 95% interval, by the ranks of all pairs of points."""

    slope: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Power:
    """base + rise * x ** exponent, neither below zero; `left` is the sum of squares that it does not explain."""

    base: float
    rise: float
    exponent: float
    left: float

    def at(self, x: float) -> float:
        return self.base + self.rise * float(x**self.exponent)

    def sum_to(self, x: float) -> float:
        """The integral from 0."""
        return self.base * x + self.rise * float(x ** (self.exponent + 1)) / (self.exponent + 1)


def kendall_z(y: FloatColumn) -> float:
    """By how many standard deviations of chance a series rises rather than falls (Mann and Kendall)."""
    n = len(y)
    if n < 3:
        return 0.0
    first, second = np.triu_indices(n, 1)
    score = float(np.sign(y[second] - y[first]).sum())
    deviation = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return (score - math.copysign(1.0, score)) / deviation if score else 0.0


def sen_line(x: FloatColumn, y: FloatColumn) -> Line | None:
    """The median slope of all pairs and Sen's interval for it; None where there are no two different x."""
    first, second = np.triu_indices(len(x), 1)
    apart = x[second] != x[first]
    if not apart.any():
        return None
    slopes = np.sort(((y[second] - y[first])[apart]) / (x[second] - x[first])[apart])
    n = len(x)
    reach = _Z * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    low = int(max((len(slopes) - reach) / 2, 0))
    high = int(min((len(slopes) + reach) / 2, len(slopes) - 1))
    return Line(float(np.median(slopes)), float(slopes[low]), float(slopes[high]))


def fit_power(x: FloatColumn, y: FloatColumn, exponent: float) -> Power:
    """The best base and rise for a given exponent, by least squares."""
    bent = x**exponent
    spread = float(((bent - bent.mean()) ** 2).sum())
    rise = float(((bent - bent.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    rise = max(rise, 0.0)
    base = float(y.mean() - rise * bent.mean())
    if base < 0:
        base = 0.0
        rise = max(float((bent * y).sum() / (bent**2).sum()), 0.0)
    return Power(base, rise, exponent, float(((y - base - rise * bent) ** 2).sum()))


def best_powers(x: FloatColumn, y: FloatColumn) -> tuple[Power, Power, Power]:
    """The best fit, and those of the lowest and the highest exponent that explain nearly as much (95%).

    Where a straight line is among these it is the best one: nobody should extrapolate a bend that may be noise.
    """
    fits = [fit_power(x, y, exponent) for exponent in EXPONENTS]
    best = min(fits, key=lambda fit: fit.left)
    allowed = best.left * (1 + _Z**2 / max(len(x) - 3, 1))
    near = [fit for fit in fits if fit.left <= allowed]
    straight = next((fit for fit in near if fit.exponent == 1.0), None)
    return straight or best, near[0], near[-1]


def left_by_a_curve(x: FloatColumn, y: FloatColumn) -> float:
    """What no curve of this form explains."""
    return min(fit_power(x, y, exponent).left for exponent in EXPONENTS)


def left_by_a_step(y: FloatColumn) -> float:
    """What a single jump between two levels does not explain, at its best place."""
    n = len(y)
    if n < 2:
        return 0.0
    sums, squares = np.cumsum(y)[:-1], np.cumsum(y**2)[:-1]
    count = np.arange(1, n)
    left = squares - sums**2 / count
    rest, rest_squares = y.sum() - sums, (y**2).sum() - squares
    right = rest_squares - rest**2 / (n - count)
    return float(max((left + right).min(), 0.0))
