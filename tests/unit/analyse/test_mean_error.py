"""How far the mean of a short series may be off, for series that resemble what runs look like."""

from __future__ import annotations

import numpy as np
import pytest

from rlprof.analyse.mean_error import error_of_mean
from rlprof.model.recording import FloatColumn


def series(rng: np.random.Generator, alike: float, length: int = 24) -> FloatColumn:
    """Around 100, with swings of 10 that go on for a while."""
    swings, level = np.zeros(length), rng.normal()
    for index in range(length):
        level = alike * level + rng.normal() * (1 - alike**2) ** 0.5
        swings[index] = level
    return 100.0 + 10.0 * swings


@pytest.mark.parametrize(("alike", "least"), [(0.0, 0.93), (0.4, 0.88)])
def test_the_interval_holds_the_truth(alike: float, least: float) -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(1000):
        values = series(rng, alike)
        mean = float(values.mean())
        held += abs(mean - 100.0) <= error_of_mean(values, np.ones(len(values))) * mean
    assert held / 1000 >= least


def test_more_of_the_same_is_known_better() -> None:
    rng = np.random.default_rng(1)
    short, long = (np.mean([error_of_mean(series(rng, 0.0, n), np.ones(n)) for _ in range(100)]) for n in (8, 48))
    assert long < short / 2


def test_a_series_that_rises_evenly_is_known_as_well_as_an_even_one() -> None:
    even = series(np.random.default_rng(3), 0.0)
    rising = even + np.arange(len(even)) - (len(even) - 1) / 2
    assert error_of_mean(rising, np.ones(len(even))) == pytest.approx(error_of_mean(even, np.ones(len(even))))


def test_what_never_differs_is_known() -> None:
    assert error_of_mean(np.full(12, 5.0), np.ones(12)) == pytest.approx(0.0)


def test_a_handful_is_known_as_well_as_it_lies_together() -> None:
    assert error_of_mean(np.array([90.0, 110.0]), np.ones(2)) == pytest.approx(0.2)


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros(6)])
def test_without_a_mean_there_is_no_error_of_it(values: FloatColumn) -> None:
    assert error_of_mean(values, np.ones(len(values))) == 0.0
