"""What pairs of measurements say, and how sure it is.

A pair is two runs (or two batches of one run) that followed each other. Its log ratio is `log(a / b)`, with times a of
the baseline and b of the candidate: above zero the candidate is faster. The estimate is a trimmed mean of the log
ratios with Yuen's interval: the most extreme pair at each end (one in seven) does not pull it, but widens it through
the winsorised variance, so nothing that was measured is thrown away. docs/compare.md says how this was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rlprof.analyse.student import one_sided_p, quantile, two_sided_p
from rlprof.experiments.disturbance import effective, weights_of

#: With fewer pairs than this there is no verdict.
FEWEST_PAIRS: Final = 5
#: Below this many, what a trimmed mean loses by resting on few values is more than it gains: the plain mean is taken.
FEWEST_TO_TRIM: Final = 8
TRIMMED_SHARE: Final = 1 / 7
ALPHA: Final = 0.05
POWER: Final = 0.80
#: Pairs that lie this many robust standard deviations from the others are reported.
OUTLIER_DISTANCE: Final = 3.5
_MAD_TO_SIGMA: Final = 1.4826
#: Pairs that hardly count leave less than one to judge by: the interval is as wide as Student's t can make it.
_LEAST_FREEDOM: Final = 0.5
_MOST_PAIRS: Final = 100_000
#: Ratios beyond this are no measurement; they also keep exp() finite.
_FARTHEST_LOG: Final = 50.0


@dataclass(frozen=True, slots=True)
class Centre:
    """The middle of some log ratios with its standard error. `spread` is that of a single pair.

    `worth` is the number of undisturbed pairs that the `n` are worth.
    """

    mean: float
    error: float
    spread: float
    df: float
    n: int
    worth: float

    def interval(self, alpha: float) -> tuple[float, float]:
        """Holds the true value in all but `alpha` of cases."""
        if self.n < 2:
            return -math.inf, math.inf
        reach = quantile(alpha, self.df) * self.error
        return self.mean - reach, self.mean + reach

    def p_differs(self) -> float:
        """How often chance alone would look like this or more, if there were no difference."""
        return two_sided_p(self._distance(0.0), self.df) if self.n >= 2 else 1.0

    def p_below(self, bound: float) -> float:
        """How often chance alone would lie as far below `bound` as this does, or further."""
        return one_sided_p(-self._distance(bound), self.df) if self.n >= 2 else 1.0

    def _distance(self, origin: float) -> float:
        away = self.mean - origin
        if self.error > 0:
            return away / self.error
        return 0.0 if away == 0 else math.copysign(math.inf, away)


def log_ratios(baseline: Sequence[float], candidate: Sequence[float]) -> list[float] | None:
    """Pair by pair; None where a value is missing or not positive, so that there is no ratio."""
    if not baseline or any(not value > 0 or math.isinf(value) for value in (*baseline, *candidate)):
        return None
    return [
        min(max(math.log(a) - math.log(b), -_FARTHEST_LOG), _FARTHEST_LOG)
        for a, b in zip(baseline, candidate, strict=True)
    ]


def trimmed_away(n: int) -> int:
    """How many pairs at each end do not pull the mean."""
    return 0 if n < FEWEST_TO_TRIM else max(1, int(n * TRIMMED_SHARE))


def _freedom(kept: float, cut: int) -> float:
    """Yuen's degrees of freedom less a half: with few pairs his own raise a fifth too many alarms, these do not."""
    return max(kept - 1 - (0.5 if cut else 0.0), _LEAST_FREEDOM)


def centre_of(values: Sequence[float], disturbances: Sequence[float] | None = None) -> Centre:
    """The trimmed mean with Yuen's standard error, pairs that were disturbed by others counting for less.

    Where all count alike this is Yuen's mean and error exactly; where not, numbers of pairs become effective numbers
    (Kish), for those that are kept and for all.
    """
    data = np.asarray(values, dtype=np.float64)
    n = len(data)
    if n == 0:
        raise ValueError("no pairs to look at")
    order = np.argsort(data, kind="stable")
    ordered, weights = data[order], weights_of(data, disturbances)[order]
    cut = trimmed_away(n)
    kept, counted = ordered[cut : n - cut], weights[cut : n - cut]
    mean = float(np.average(kept, weights=counted))
    if n < 2:
        return Centre(mean, math.inf, math.inf, 1, n, 1.0)
    drawn_in = np.clip(ordered, kept[0], kept[-1])
    away = weights * (drawn_in - np.average(drawn_in, weights=weights))
    all_pairs, kept_pairs = effective(weights), effective(counted)
    squares = float(np.square(away).sum()) * (all_pairs / float(weights.sum())) ** 2
    error = math.sqrt(squares / (kept_pairs * max(kept_pairs - 1, _LEAST_FREEDOM)))
    return Centre(mean, error, error * math.sqrt(n), _freedom(kept_pairs, cut), n, all_pairs)


def outliers_of(values: Sequence[float]) -> list[int]:
    """The pairs that lie far from the others, by their place in the sequence. They are kept; a reader should know."""
    if len(values) < FEWEST_PAIRS:
        return []
    data = np.asarray(values, dtype=np.float64)
    away = np.abs(data - np.median(data))
    scale = _MAD_TO_SIGMA * float(np.median(away))
    return [] if scale == 0 else [int(i) for i in np.nonzero(away > OUTLIER_DISTANCE * scale)[0]]


def holm_levels(p_values: Mapping[str, float], alpha: float = ALPHA) -> dict[str, tuple[float, bool]]:
    """For each member of a family: the level it is held to, and whether it passes.

    Holm's way: the smallest p-value is held to alpha / m, the next to alpha / (m - 1), until one fails; that one's
    level holds for all the rest. At most one family in twenty (for alpha = 0.05) has any false alarm at all.
    """
    judged: dict[str, tuple[float, bool]] = {}
    failed_at: float | None = None
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        level = failed_at if failed_at is not None else alpha / (len(p_values) - rank)
        if failed_at is None and p > level:
            failed_at = level
        judged[name] = (level, failed_at is None)
    return judged


def minimal_detectable(centre: Centre, alpha: float = ALPHA) -> float | None:
    """The smallest difference (a log ratio) that pairs such as these find in four of five comparisons."""
    if centre.n < 2 or not math.isfinite(centre.error):
        return None
    # The quantile for power is one-sided: a difference found the wrong way round is not found.
    return (quantile(alpha, centre.df) + quantile(2 * (1 - POWER), centre.df)) * centre.error


def pairs_needed(centre: Centre, difference: float, alpha: float = ALPHA) -> int | None:
    """How many pairs find this difference in four of five comparisons; None where no sensible number does."""
    if not math.isfinite(centre.spread) or difference <= 0:
        return None
    low, high = FEWEST_PAIRS - 1, FEWEST_PAIRS
    while _misses(centre, high, difference, alpha):
        low, high = high, high * 2
        if high > _MOST_PAIRS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if _misses(centre, middle, difference, alpha):
            low = middle
        else:
            high = middle
    return high


def _misses(centre: Centre, n: int, difference: float, alpha: float) -> bool:
    found = minimal_detectable(_as_many(centre, n), alpha)
    return found is None or found > difference


def _as_many(centre: Centre, n: int) -> Centre:
    """What `n` such pairs would give, others disturbing as many of them as they did of these."""
    cut = trimmed_away(n)
    share = centre.worth / centre.n
    freedom = _freedom((n - 2 * cut) * share, cut)
    return replace(centre, error=centre.spread / math.sqrt(n), df=freedom, n=n, worth=n * share)
