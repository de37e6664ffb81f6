"""Student's t distribution: all of it that intervals and comparisons need, so that no SciPy has to be installed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

_TINY: Final = 1e-300
_STEPS: Final = 300
#: Far enough out for every level in use: one degree of freedom at one in a billion is 6e8.
_FARTHEST: Final = 1e10


def two_sided_p(t: float, df: float) -> float:
    """How often chance alone gives a value at least as far from zero as `t`, on either side."""
    if math.isnan(t):
        return 1.0
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def one_sided_p(t: float, df: float) -> float:
    """How often chance alone gives a value as large as `t` or larger."""
    half = two_sided_p(t, df) / 2
    return half if t > 0 else 1 - half


@lru_cache(maxsize=4096)
def quantile(two_sided: float, df: float) -> float:
    """The distance from zero that chance passes, on either side, with this probability."""
    low, high = 0.0, 1.0
    while two_sided_p(high, df) > two_sided and high < _FARTHEST:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if two_sided_p(middle, df) > two_sided:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction on the side where that converges fast."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return scale * _fraction(a, b, x) / a
    return 1 - scale * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's way of evaluating a continued fraction from the front."""
    c, d = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = _inverse(1 + term * d)
            c = 1 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return value


def _inverse(value: float) -> float:
    return 1 / (value if abs(value) > _TINY else _TINY)
