"""How throughput grows with the number of things that run side by side, as a law with three numbers.

Gunther's universal scalability law: X(N) = λN / (1 + σ(N-1) + κN(N-1)). λ is the throughput of one, σ the part of its
work that is done one after the other (contention; alone it is Amdahl's law), κ what keeping everybody in step costs
(coherency), which makes throughput fall beyond a peak. Written as the time of one round of all N, N/X(N), it is linear
in 1/λ, σ/λ and κ/λ, none of which can be below zero: least squares of relative errors find it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from rlprof.model.recording import FloatColumn
from rlprof.model.sweep import CurvePoint, Estimate, Law

#: Three numbers are fitted; without a fourth point nothing would speak for or against the law.
FEWEST_POINTS: Final = 4
#: A law that misses its points by more than this, typically, does not describe them.
WORST_MISFIT: Final = 0.10
#: The knee is where doubling brings no more than this.
KNEE_GAIN: Final = 1.10
#: How many curves that might have been measured as well the intervals come from.
_REPLICATES: Final = 2000
_LEVEL: Final = 0.95
#: Points of a drawn curve.
_DRAWN: Final = 60


@dataclass(frozen=True, slots=True)
class Point:
    """A measured rate at N. `error` is the standard error of its logarithm, None where it was measured once."""

    n: float
    rate: float
    error: float | None = None
    df: float = 0.0


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The law's three numbers."""

    rate_of_one: float
    serial: float
    coherency: float

    def rate(self, n: float) -> float:
        return self.rate_of_one * n / (1 + self.serial * (n - 1) + self.coherency * n * (n - 1))

    def peak(self) -> float | None:
        """The N beyond which more is less; None where the law has no such N."""
        if self.coherency <= 0:
            return None
        return math.sqrt(max(1 - self.serial, 0.0) / self.coherency)

    def knee(self, low: float, high: float) -> float | None:
        """The smallest N in a range at which doubling it hardly pays; None where it pays throughout."""
        at = float(_knees(np.array([[1.0, self.serial, self.coherency]]))[0])
        return None if at > high else max(at, low)


def _knees(rows: FloatColumn) -> FloatColumn:
    """Where doubling brings no more than `KNEE_GAIN`, for each row of coefficients; infinity where it always does.

    X(2N) = gX(N) is a quadratic equation in N. What doubling brings only falls as N grows, so it has one answer.
    """
    serial, coherency = rows[:, 1] / rows[:, 0], rows[:, 2] / rows[:, 0]
    g = KNEE_GAIN
    a, b = (4 * g - 2) * coherency, 2 * (g - 1) * (serial - coherency)
    c = (2 - g) * (1 - serial)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The usual formula would subtract nearly equal numbers where coherency is small.
        below = b + np.sqrt(np.maximum(b**2 + 4 * a * c, 0.0))
        found = np.where(below > 0, 2 * c / below, np.inf)
    return np.asarray(np.where(c <= 0, 0.0, found), dtype=np.float64)


def fit_law(points: Sequence[Point], seed: int = 0) -> Law:
    """The law of these points, or why there is none. The same points give the same intervals."""
    known = sorted((p for p in points if p.n > 0 and p.rate > 0), key=lambda p: p.n)
    distinct = len({p.n for p in known})
    if distinct < FEWEST_POINTS:
        return _no_law(f"{distinct} different values: it takes {FEWEST_POINTS} to tell a law")
    n = np.array([p.n for p in known], dtype=np.float64)
    rates = np.array([p.rate for p in known], dtype=np.float64)
    solver = _Solver(n, n / rates)
    best = solver.solve((n / rates)[None, :])[0]
    if best[0] <= 0:
        return _no_law("throughput at the smallest values says nothing about one")
    found = _coefficients(best)
    predicted = np.array([found.rate(value) for value in n])
    residuals = np.log(rates / predicted)
    misfit = float(np.sqrt(np.mean(residuals**2)))
    scatter = float(np.sum((np.log(rates) - np.log(rates).mean()) ** 2))
    explained = max(1 - float(np.sum(residuals**2)) / scatter, 0.0) if scatter > 0 else None
    if misfit > WORST_MISFIT:
        return _no_law(
            f"the points lie {misfit:.0%} from the nearest law, typically: it does not describe them", misfit
        )
    sampled = _might_have_been(solver, n / predicted, _spread(known, residuals), np.random.default_rng(seed))
    return _law(found, sampled, (float(n[0]), float(n[-1])), misfit, explained)


def _no_law(why: str, misfit: float | None = None) -> Law:
    return Law(None, None, None, None, None, None, misfit, None, (), why)


class _Solver:
    """Least squares of relative errors with coefficients that are not below zero, for many curves over the same N.

    With three of them every choice of those that are zero can be tried: the best that keeps the signs is the answer.
    """

    def __init__(self, n: FloatColumn, times: FloatColumn) -> None:
        weights = 1 / times
        self._design = np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1) * weights[:, None]
        self._weights = weights
        # Columns of very different size would cost digits.
        self._scale = np.sqrt((self._design**2).sum(axis=0))
        self._scale[self._scale == 0] = 1.0
        self._free = [np.array(choice, bool) for choice in product((True, False), repeat=3) if any(choice)]
        scaled = self._design / self._scale
        self._inverses = [np.linalg.pinv(scaled[:, free]) for free in self._free]

    def solve(self, curves: FloatColumn) -> FloatColumn:
        """One row of coefficients for each row of times."""
        targets = curves * self._weights
        answers = np.zeros((len(curves), 3))
        least = np.full(len(curves), np.inf)
        scaled = self._design / self._scale
        for free, inverse in zip(self._free, self._inverses, strict=True):
            found = np.zeros((len(curves), 3))
            found[:, free] = targets @ inverse.T
            squares = ((targets - found @ scaled.T) ** 2).sum(axis=1)
            better = (found >= 0).all(axis=1) & (squares < least)
            answers[better], least[better] = found[better], squares[better]
        return np.asarray(answers / self._scale, dtype=np.float64)


def _coefficients(row: FloatColumn) -> Coefficients:
    whole = float(row[0])
    return Coefficients(1 / whole, float(row[1]) / whole, float(row[2]) / whole)


@dataclass(frozen=True, slots=True)
class _Spread:
    """How far a measured point may lie from the truth, as a share, and how well that is known."""

    error: float
    df: float


def _spread(points: Sequence[Point], residuals: FloatColumn) -> _Spread:
    """The larger of what the runs of a point differ by, and what the points differ from the law by."""
    left = len(points) - 3
    of_law = _Spread(math.sqrt(float(np.sum(residuals**2)) / left), left)
    repeated = [p for p in points if p.error is not None and math.isfinite(p.error) and p.df > 0]
    if not repeated:
        return of_law
    freedom = sum(p.df for p in repeated)
    of_runs = _Spread(math.sqrt(sum(p.df * (p.error or 0.0) ** 2 for p in repeated) / freedom), freedom)
    return max(of_law, of_runs, key=lambda spread: spread.error)


def _might_have_been(solver: _Solver, times: FloatColumn, spread: _Spread, source: np.random.Generator) -> FloatColumn:
    """Coefficients of curves as they might have been measured, if the fitted one is the truth."""
    # The spread itself is an estimate: drawing it, too, makes the intervals as wide as few points deserve.
    errors = spread.error * np.sqrt(spread.df / source.chisquare(spread.df, _REPLICATES))
    noise = source.normal(0.0, 1.0, (_REPLICATES, len(times))) * np.minimum(errors, 1.0)[:, None]
    rows = solver.solve(times[None, :] * np.exp(noise))
    return np.asarray(rows[rows[:, 0] > 0], dtype=np.float64)


def _law(
    found: Coefficients, sampled: FloatColumn, measured: tuple[float, float], misfit: float, explained: float | None
) -> Law:
    low, high = measured
    peak, knee = found.peak(), found.knee(low, high)
    return Law(
        rate_of_one=_estimate(found.rate_of_one, 1 / sampled[:, 0]),
        serial=_estimate(found.serial, sampled[:, 1] / sampled[:, 0]),
        coherency=_estimate(found.coherency, sampled[:, 2] / sampled[:, 0]),
        knee=_estimate(knee, np.clip(_knees(sampled), low, high)) if knee is not None else None,
        peak=peak if peak is not None and low <= peak <= high else None,
        ceiling=found.rate_of_one / found.serial if found.coherency <= 0 < found.serial < 1 else None,
        misfit=misfit,
        r_squared=explained,
        curve=tuple(CurvePoint(float(n), found.rate(float(n))) for n in np.geomspace(low, high, _DRAWN)),
        cannot_tell=None,
    )


def _estimate(value: float, sampled: FloatColumn) -> Estimate:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(sampled, [tail, 1 - tail]) if len(sampled) else (value, value)
    # Bounds at zero push what might have been to one side; the estimate itself is always possible.
    return Estimate(value, min(float(low), value), max(float(high), value))
