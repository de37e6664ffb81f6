"""The order in which trials run: in pairs or rounds, each variant early about as often as late, by chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
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


def order_of_round(seed: int, round_number: int, variants: Sequence[str]) -> tuple[str, ...]:
    """In which order all variants run in a round: by chance, and backwards in the next, as pairs do.

    It is drawn for all of them, so that dropping one leaves the others in their order.
    """
    order = list(variants)
    random.Random(f"{seed}/{round_number // 2}").shuffle(order)
    return tuple(reversed(order)) if round_number % 2 else tuple(order)
