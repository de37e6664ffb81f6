"""The order in which trials run: in pairs, each side first about as often as the other, by chance."""

from __future__ import annotations

import random
from typing import Final, Literal

Variant = Literal["a", "b"]
BASELINE: Final[Variant] = "a"
CANDIDATE: Final[Variant] = "b"


def order_of_pair(seed: int, pair: int) -> tuple[Variant, Variant]:
    """Who goes first in a pair.

    Pairs come in twos that mirror each other, so that going first is an advantage to nobody; which way round is
    chance, so that no rhythm of the machine can fall in with it. The same seed gives the same order on resuming.
    """
    swapped = random.Random(f"{seed}/{pair // 2}").random() < 0.5
    if pair % 2:
        swapped = not swapped
    return (CANDIDATE, BASELINE) if swapped else (BASELINE, CANDIDATE)
