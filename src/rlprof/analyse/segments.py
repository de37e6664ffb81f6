"""Where a series changes its level: the fewest levels that explain it, none of which noise could have made."""

from __future__ import annotations

from typing import Final

import numpy as np

from rlprof.model.recording import FloatColumn

#: Fewer points are one level, whatever they say.
FEWEST: Final = 10
#: A level lasts at least so many points, and this share of all.
SHORTEST: Final = 4
SHORTEST_SHARE: Final = 0.08
#: What a further level must explain, in variances of the noise and logarithms of the number of points.
PENALTY: Final = 6.0
#: Noise below this is not believed: clocks and counters have a grain.
SMALLEST_NOISE: Final = 0.03
#: A change counts from this difference of logarithms on (1.25 times as fast or as slow) ...
SMALLEST_CHANGE: Final = 0.223
#: ... and from so many standard deviations of the noise on.
CLEARLY: Final = 2.5
#: Pairs of points that have a change between them are few among all pairs as far apart.
FEW_ACROSS: Final = 5
#: From so many points on, a pause of two windows is taken for what it is.
MANY: Final = 20
#: Turns a median of absolute deviations into a standard deviation.
_MAD: Final = 1.4826


def change_points(y: FloatColumn) -> tuple[int, ...]:
    """The first point of each level but the first one. `y` are logarithms, so that a change is a ratio."""
    if len(y) < FEWEST:
        return ()
    smooth = _without_spikes(y)
    noise = noise_of(y)
    found = list(_optimal(smooth, PENALTY * noise**2 * float(np.log(len(y))), shortest(len(y))))
    while found:
        weights = [_clearness(smooth, noise, found, index) for index in range(len(found))]
        weakest = int(np.argmin(weights))
        if weights[weakest] >= 1.0:
            break
        del found[weakest]
    return tuple(found)


def shortest(points: int) -> int:
    """How many points a level has at least."""
    return max(SHORTEST, int(SHORTEST_SHARE * points))


def noise_of(y: FloatColumn) -> float:
    """The standard deviation of points around each other, neighbours and others: a change of level hardly shows in it.

    Neighbours alone would say too little of a series that wanders, as the speed of a busy machine does.
    """
    lags = [lag for lag in (1, 2, shortest(len(y))) if lag * FEW_ACROSS <= len(y)]
    apart = [float(np.median(np.abs(y[lag:] - y[:-lag]))) for lag in lags]
    return max([SMALLEST_NOISE, *(_MAD / float(np.sqrt(2.0)) * middle for middle in apart)])


def _without_spikes(y: FloatColumn) -> FloatColumn:
    """Each point as the middle one of itself and its neighbours: a pause in one window is no level."""
    reach = 2 if len(y) >= MANY else 1
    padded = np.pad(y, reach, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1), axis=1), np.float64)


def _optimal(y: FloatColumn, penalty: float, least: int) -> tuple[int, ...]:
    """The partition with the smallest sum of squares plus a penalty for each level."""
    n = len(y)
    sums, squares = (np.concatenate(([0.0], np.cumsum(values))) for values in (y, y**2))
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    before = np.zeros(n + 1, np.int64)
    for end in range(least, n + 1):
        begins = np.arange(0, end - least + 1)
        length = end - begins
        cost = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / length
        total = best[begins] + cost + penalty
        before[end] = begins[int(np.argmin(total))]
        best[end] = float(total.min())
    found: list[int] = []
    end = n
    while before[end] > 0:
        end = int(before[end])
        found.append(end)
    return tuple(reversed(found))


def _clearness(smooth: FloatColumn, noise: float, found: list[int], index: int) -> float:
    """How clear a change is; from 1 on it counts."""
    edges = [0, *found, len(smooth)]
    left, right = (smooth[edges[index + part] : edges[index + part + 1]] for part in (0, 1))
    change = abs(float(np.median(right)) - float(np.median(left)))
    return min(change / SMALLEST_CHANGE, change / (CLEARLY * noise))
