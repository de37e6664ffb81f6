"""Looking at the result after every pair without fooling oneself.

Each look may raise a false alarm. The whole budget is five in a hundred comparisons. Looks before a planned end share
one of them, in parts that add up to it however many looks there are (1/2 + 1/6 + 1/12 + … = 1). The first planned end
has three, and ends past it, after more pairs were asked for in the light of the result, share the last one likewise.
So a comparison may stop early, or go on past its planned end, and the five still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rlprof.experiments.statistics import ALPHA, FEWEST_PAIRS, centre_of

EARLY_BUDGET: Final = 0.01
#: Of experiments that are never asked for more than was planned.
END_BUDGET: Final = ALPHA - EARLY_BUDGET
LATER_BUDGET: Final = 0.01


def look_level(n: int) -> float:
    """The share of the budget that the look after `n` pairs may use."""
    step = n - FEWEST_PAIRS + 1
    return EARLY_BUDGET / (step * (step + 1)) if step > 0 else 0.0


def end_level(extensions: int, *, peeked: bool = True) -> float:
    """The share of the budget that a planned end may use, after so many times that more pairs were asked for.

    Where nobody looked before it, the first end has what early looks would have used, too.
    """
    if extensions:
        return LATER_BUDGET / (extensions * (extensions + 1))
    return ALPHA - LATER_BUDGET - (EARLY_BUDGET if peeked else 0.0)


def is_settled(log_ratios: Sequence[float], margin: float, disturbances: Sequence[float] | None = None) -> bool:
    """Whether more pairs would not change the answer: a difference is proven, or one beyond the margin is ruled out."""
    n = len(log_ratios)
    if n < FEWEST_PAIRS:
        return False
    low, high = centre_of(log_ratios, disturbances).interval(look_level(n))
    return low > 0 or high < 0 or (-margin < low and high < margin)
