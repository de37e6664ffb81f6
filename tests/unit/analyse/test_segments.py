"""Levels of a series: found where they are, and not where there is only noise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.segments import FEWEST, change_points, shortest


def noise(random: np.random.Generator, points: int, deviation: float, memory: float = 0.0) -> np.ndarray:
    fresh = random.normal(0.0, 1.0, points)
    series = np.empty(points)
    series[0] = fresh[0]
    for index in range(1, points):
        series[index] = memory * series[index - 1] + np.sqrt(1 - memory**2) * fresh[index]
    return deviation * series


@pytest.mark.parametrize("points", [10, 20, 60, 120])
@pytest.mark.parametrize("deviation", [0.02, 0.1, 0.3])
def test_noise_is_one_level_in_at_least_95_of_100_runs(points: int, deviation: float) -> None:
    random = np.random.default_rng(points)
    wrong = sum(bool(change_points(noise(random, points, deviation))) for _ in range(200))
    assert wrong <= 10


@pytest.mark.parametrize("points", [20, 60, 120])
def test_neither_do_noise_that_wanders_and_single_pauses_make_levels(points: int) -> None:
    random = np.random.default_rng(points)
    wrong = 0
    for _ in range(200):
        series = noise(random, points, 0.1, memory=0.5) - 1.0 * (random.random(points) < 0.04)
        wrong += bool(change_points(series))
    assert wrong <= 12


@pytest.mark.parametrize("points", [16, 40, 120])
@pytest.mark.parametrize("ratio", [0.5, 2.0, 10.0])
def test_a_change_by_half_or_more_is_found_where_it_is(points: int, ratio: float) -> None:
    random = np.random.default_rng(7)
    at, right = points // 2, 0
    for _ in range(50):
        series = noise(random, points, 0.06)
        series[at:] += np.log(ratio)
        found = change_points(series)
        right += len(found) == 1 and abs(found[0] - at) <= 1
    assert right >= 47


@given(st.lists(st.floats(-3.0, 12.0), max_size=80))
def test_levels_are_long_enough_and_in_order(series: list[float]) -> None:
    found = change_points(np.array(series, np.float64))
    edges = [0, *found, len(series)]
    if len(series) < FEWEST:
        assert found == ()
    assert all(after - before >= shortest(len(series)) for before, after in pairwise(edges) if found)


def test_a_change_of_less_than_a_quarter_is_none() -> None:
    assert change_points(np.repeat([0.0, np.log(1.2)], 30)) == ()
    assert change_points(np.repeat([0.0, np.log(1.3)], 30)) == (30,)
