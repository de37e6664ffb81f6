"""Looking at the result after every pair without fooling oneself.

Each look may raise a false alarm. The whole budget is five in a hundred comparisons: looks before the planned end share
one of them, in parts that add up to it however many looks there are (1/2 + 1/6 + 1/12 + … = 1), and the look at the
planned end has the other four. So a comparison may stop early, or go on past its planned end, and the five still hold:
past the end only what the early looks have left counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rlprof.experiments.statistics import ALPHA, FEWEST_PAIRS, centre_of

EARLY_BUDGET: Final = 0.01
END_BUDGET: Final = ALPHA - EARLY_BUDGET


def look_level(n: int) -> float:
    """The share of the budget that the look after `n` pairs may use."""
    step = n - FEWEST_PAIRS + 1
    return EARLY_BUDGET / (step * (step + 1)) if step > 0 else 0.0


def level_at(n: int, planned: int, *, peeked: bool) -> float:
    """The level that a result after `n` of the planned pairs is held to."""
    if not peeked:
        return ALPHA
    return END_BUDGET if n == planned else look_level(n)


def is_settled(log_ratios: Sequence[float], margin: float, disturbances: Sequence[float] | None = None) -> bool:
    """Whether more pairs would not change the answer: a difference is proven, or one beyond the margin is ruled out."""
    n = len(log_ratios)
    if n < FEWEST_PAIRS:
        return False
    low, high = centre_of(log_ratios, disturbances).interval(look_level(n))
    return low > 0 or high < 0 or (-margin < low and high < margin)
