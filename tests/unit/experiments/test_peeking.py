"""Looking after every pair must not raise more alarms than looking once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlprof.experiments.peeking import EARLY_BUDGET, END_BUDGET, end_level, is_settled, look_level
from rlprof.experiments.simulated_machine import USUAL, pairs
from rlprof.experiments.statistics import ALPHA, centre_of


def test_all_looks_together_stay_within_the_budget() -> None:
    assert sum(look_level(n) for n in range(100_000)) <= EARLY_BUDGET
    assert pytest.approx(ALPHA) == EARLY_BUDGET + END_BUDGET
    assert look_level(4) == 0.0


@pytest.mark.parametrize("peeked", [True, False])
def test_early_looks_and_all_planned_ends_stay_within_five_in_a_hundred(peeked: bool) -> None:
    looks = sum(look_level(n) for n in range(10_000)) if peeked else 0.0
    ends = [end_level(n, peeked=peeked) for n in range(10_000)]
    assert looks + sum(ends) == pytest.approx(ALPHA, abs=1e-5)
    assert looks + sum(ends) <= ALPHA
    assert ends == sorted(ends, reverse=True)


def test_four_pairs_settle_nothing_however_clear_they_are() -> None:
    assert not is_settled([1.0, 1.01, 0.99, 1.0], 0.03)
    assert is_settled([1.0, 1.01, 0.99, 1.0, 1.0], 0.03)


def test_pairs_that_agree_settle_that_there_is_no_difference() -> None:
    assert is_settled([0.001, -0.001, 0.0, 0.001, -0.001, 0.0], 0.03)
    assert not is_settled([0.02, -0.02, 0.03, -0.03, 0.0, 0.01], 0.03)


def judged(log_ratios: np.ndarray, planned: int) -> tuple[int, float, float]:
    """As an experiment does: a look after each pair from the fifth on, and one at the end."""
    n = next((n for n in range(5, planned) if is_settled(log_ratios[:n].tolist(), math.log1p(0.03))), planned)
    return n, *centre_of(log_ratios[:n]).interval(look_level(n) if n < planned else end_level(0))


def test_stopping_early_raises_no_more_false_alarms() -> None:
    source = np.random.default_rng(11)
    alarms = 0
    for _ in range(600):
        _, low, high = judged(pairs(USUAL, 10, 0.0, source), 10)
        alarms += low > 0 or high < 0
    assert alarms <= 42  # 5% of 600, and two standard errors


def test_a_large_difference_ends_a_comparison_early_and_its_interval_holds() -> None:
    source = np.random.default_rng(12)
    truth = math.log(1.3)
    results = [judged(pairs(USUAL, 10, truth, source), 10) for _ in range(200)]
    assert np.mean([n for n, _, _ in results]) < 6
    assert sum(low <= truth <= high for _, low, high in results) >= 190
    assert sum(low > 0 for _, low, _ in results) >= 198
