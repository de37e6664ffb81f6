"""By how much the mean of a series may be off, when neighbours resemble each other and the series may drift."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from rlprof.analyse.student import quantile
from rlprof.model.recording import FloatColumn

#: Fewer values say nothing but how far they lie apart.
FEWEST: Final = 4
#: One case in twenty lies outside.
OUTSIDE: Final = 0.05
#: Neighbours that resemble each other even more are a drift, of which a short series says nothing.
MOST_ALIKE: Final = 0.9


def error_of_mean(values: FloatColumn, weights: FloatColumn) -> float:
    """Half of the 95% interval of the weighted mean, as a share of it; 0 where there is no mean.

    What is left beside a straight line counts as chance: a series that rises evenly is no less known for it. Slow
    swings count for more than quick ones, as fewer of them were seen.
    """
    mean = float(np.average(values, weights=weights)) if float(weights.sum()) > 0 else 0.0
    if mean <= 0:
        return 0.0
    if len(values) < FEWEST:
        return float(values.max() - values.min()) / mean
    left = _beside_a_line(values)
    freedom = len(values) - 2
    deviation = math.sqrt(float((left**2).sum()) / freedom)
    return quantile(OUTSIDE, freedom) * deviation / math.sqrt(_independent(left)) / mean


def _beside_a_line(values: FloatColumn) -> FloatColumn:
    at = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float((at * values).sum() / (at**2).sum())
    return np.asarray(values - values.mean() - slope * at, np.float64)


def _independent(left: FloatColumn) -> float:
    """How many values without resemblance to their neighbours would say as much: of a process with one lag.

    In a short series the line takes some of the resemblance away; that part is put back.
    """
    whole = float((left**2).sum())
    alike = float((left[1:] * left[:-1]).sum()) / whole if whole > 0 else 0.0
    alike = min(max(alike + (2.0 + 4.0 * alike) / len(left), 0.0), MOST_ALIKE)
    return max(len(left) * (1 - alike) / (1 + alike), 2.0)
