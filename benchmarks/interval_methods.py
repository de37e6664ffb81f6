"""Ways to put an interval around paired log ratios that were tried beside the one rlprof uses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlprof.analyse.student import quantile
from rlprof.experiments.statistics import centre_of

Values = NDArray[np.float64]
Interval = tuple[float, float]
#: From log ratios, and by how much others' use of the machine differed in each pair.
Method = Callable[[Values, Values], Interval]
_RESAMPLES = 999
_source = np.random.default_rng(20)


def ours(values: Values, disturbances: Values) -> Interval:
    return centre_of(values.tolist(), disturbances.tolist()).interval(0.05)


def ours_unwatched(values: Values) -> Interval:
    return centre_of(values.tolist()).interval(0.05)


def plain_t(values: Values) -> Interval:
    reach = quantile(0.05, len(values) - 1) * float(values.std(ddof=1)) / len(values) ** 0.5
    return float(values.mean()) - reach, float(values.mean()) + reach


def trimmed_a_fifth(values: Values) -> Interval:
    """Yuen's interval as it is in textbooks."""
    cut, ordered = len(values) // 5, np.sort(values)
    kept = ordered[cut : len(values) - cut]
    drawn_in = np.clip(ordered, kept[0], kept[-1])
    error = float(np.sqrt(np.square(drawn_in - drawn_in.mean()).sum() / (len(kept) * (len(kept) - 1))))
    reach = quantile(0.05, len(kept) - 1) * error
    return float(kept.mean()) - reach, float(kept.mean()) + reach


def percentile_bootstrap(values: Values) -> Interval:
    means = values[_source.integers(0, len(values), (_RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def bootstrap_t(values: Values) -> Interval:
    n = len(values)
    drawn = values[_source.integers(0, n, (_RESAMPLES, n))]
    spread = drawn.std(axis=1, ddof=1)
    scores = (drawn.mean(axis=1) - values.mean())[spread > 0] / spread[spread > 0]
    low, high = np.quantile(scores, [0.025, 0.975])
    own = float(values.std(ddof=1))
    return float(values.mean() - high * own), float(values.mean() - low * own)


@lru_cache
def _subsets(n: int) -> NDArray[np.float64]:
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))[1:]


def sign_flips(values: Values) -> Interval:
    """The exact permutation test turned round: means of all subsets are values it does not reject (Hartigan, 1969)."""
    subsets = _subsets(len(values))
    means = np.sort(subsets @ values / subsets.sum(axis=1))
    rank = max(int(0.025 * 2 ** len(values)), 1)
    return float(means[rank - 1]), float(means[-rank])


@lru_cache
def _signed_rank_limit(n: int) -> int:
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank].copy()
    return int(np.searchsorted(np.cumsum(ways) / 2**n, 0.025, side="right")) - 1


def signed_ranks(values: Values) -> Interval:
    """Hodges and Lehmann's interval: means of two, counted in from both ends by Wilcoxon's signed ranks."""
    first, second = np.triu_indices(len(values))
    means = np.sort((values[first] + values[second]) / 2)
    limit = max(_signed_rank_limit(len(values)), 0)
    return float(means[limit]), float(means[-1 - limit])


def without_load(method: Callable[[Values], Interval]) -> Method:
    return lambda values, disturbances: method(values)


METHODS: dict[str, Method] = {
    "rlprof: trimmed mean, by others' load": ours,
    "rlprof, load not known": without_load(ours_unwatched),
    "trimming a fifth": without_load(trimmed_a_fifth),
    "plain t": without_load(plain_t),
    "bootstrap, percentile": without_load(percentile_bootstrap),
    "bootstrap-t": without_load(bootstrap_t),
    "sign flips of the mean": without_load(sign_flips),
    "signed ranks": without_load(signed_ranks),
}
