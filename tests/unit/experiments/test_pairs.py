"""Side-by-side measuring: who goes first, and how sure a median is."""

from __future__ import annotations

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.pairs import interleave, ratios, spread


def test_every_case_is_measured_once_per_round_and_each_goes_first_in_turn() -> None:
    order: list[str] = []

    def case(name: str) -> float:
        order.append(name)
        return float(len(order))

    values = interleave({name: (lambda name=name: case(name)) for name in "abc"}, rounds=3)
    assert "".join(order) == "abcbcacab"
    assert [len(found) for found in values.values()] == [3, 3, 3]


def test_a_machine_that_slows_down_for_everybody_leaves_the_ratios_alone() -> None:
    drift = [1.0, 1.5, 3.0, 0.5]
    assert ratios([2.0 * d for d in drift], list(drift)) == [2.0] * 4


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_the_interval_holds_the_median_and_lies_within_the_values(values: list[float]) -> None:
    found = spread(values)
    assert found.median == statistics.median(values)
    assert min(values) <= found.low <= found.median <= found.high <= max(values)


def test_few_values_give_their_whole_range() -> None:
    assert (spread([3.0, 1.0, 2.0]).low, spread([3.0, 1.0, 2.0]).high) == (1.0, 3.0)


@pytest.mark.parametrize("n", [6, 10, 15, 30])
def test_the_interval_holds_the_true_median_as_often_as_it_says(n: int) -> None:
    source = random.Random(n)
    hits = 0
    for _ in range(2000):
        found = spread([source.lognormvariate(0.0, 1.0) for _ in range(n)])
        hits += found.low <= 1.0 <= found.high
    assert hits / 2000 >= 0.94  # 0.95 less three standard errors


def test_nothing_cannot_be_summarised() -> None:
    with pytest.raises(ValueError, match="no values"):
        spread([])
