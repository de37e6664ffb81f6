"""Trends and fits."""

from __future__ import annotations

import numpy as np
import pytest

from rlprof.analyse.trend import best_powers, fit_power, kendall_z, left_by_a_curve, left_by_a_step, sen_line

X = np.arange(1.0, 31.0)


def test_a_rising_series_is_many_deviations_from_chance_and_a_falling_one_as_many_below() -> None:
    assert kendall_z(X) > 5
    assert kendall_z(-X) == pytest.approx(-kendall_z(X))
    assert kendall_z(np.ones(30)) == 0.0


def test_chance_seldom_looks_like_a_trend() -> None:
    random = np.random.default_rng(3)
    assert sum(kendall_z(random.normal(size=20)) > 2.58 for _ in range(1000)) <= 12


def test_the_interval_of_a_slope_holds_it_in_about_95_of_100_cases() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        line = sen_line(X, 0.5 * X + random.normal(0.0, 2.0, len(X)))
        assert line is not None
        held += line.low <= 0.5 <= line.high
    assert 275 <= held <= 299


def test_points_at_one_place_have_no_slope() -> None:
    assert sen_line(np.ones(5), X[:5]) is None


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_curve_is_found(exponent: float) -> None:
    best, low, high = best_powers(X, 3.0 + 0.1 * X**exponent)
    assert best.exponent == pytest.approx(exponent)
    assert low.exponent <= exponent <= high.exponent
    assert best.at(10.0) == pytest.approx(3.0 + 0.1 * 10**exponent)


def test_a_straight_line_is_preferred_where_it_explains_as_much() -> None:
    random = np.random.default_rng(1)
    best, low, high = best_powers(X, 5.0 + 0.2 * X + random.normal(0.0, 0.5, len(X)))
    assert best.exponent == 1.0
    assert low.exponent < 1.0 < high.exponent


def test_neither_base_nor_rise_fall_below_zero() -> None:
    falling = fit_power(X, 10.0 - 0.3 * X, 1.0)
    assert falling.rise == 0.0
    steep = fit_power(X, X**2, 1.0)
    assert steep.base == 0.0


def test_a_jump_is_told_from_a_curve() -> None:
    jump = np.repeat([1.0, 3.0], 15)
    assert left_by_a_step(jump) < left_by_a_curve(X, jump)
    assert left_by_a_curve(X, X) < left_by_a_step(X)


def test_the_sum_of_a_curve_is_its_integral() -> None:
    fit = fit_power(X, 2.0 + 0.5 * X, 1.0)
    assert fit.sum_to(10.0) == pytest.approx(2.0 * 10 + 0.25 * 100)
