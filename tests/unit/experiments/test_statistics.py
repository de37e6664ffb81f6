"""What pairs say: estimates, intervals, families, and how many pairs it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rlprof.analyse.student import one_sided_p, quantile, two_sided_p
from rlprof.experiments.disturbance import disturbances_of
from rlprof.experiments.simulated_machine import BUSY, CALM, USUAL, Noise, family, watched_pairs
from rlprof.experiments.statistics import (
    FEWEST_PAIRS,
    Centre,
    centre_of,
    holm_levels,
    log_ratios,
    minimal_detectable,
    outliers_of,
    pairs_needed,
    trimmed_away,
)

logs = st.floats(-2, 2).map(lambda value: round(value, 6))
p_values = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), max_size=12)


@pytest.mark.parametrize(
    ("two_sided", "df", "expected"),
    # From printed tables of the t distribution.
    [(0.05, 1, 12.706), (0.05, 4, 2.776), (0.05, 9, 2.262), (0.01, 9, 3.250), (0.002, 6, 5.208), (0.05, 120, 1.980)],
)
def test_quantiles_are_those_of_the_tables(two_sided: float, df: float, expected: float) -> None:
    assert quantile(two_sided, df) == pytest.approx(expected, abs=0.001)
    assert two_sided_p(quantile(two_sided, df), df) == pytest.approx(two_sided, rel=1e-6)


@given(st.floats(0.5, 500), st.floats(1e-9, 0.999))
def test_quantiles_are_those_of_scipy(df: float, two_sided: float) -> None:
    expected = float(stats.t.isf(two_sided / 2, df))
    assume(expected < 1e9)  # beyond what is looked for: half a degree of freedom, at one in a hundred thousand
    assert quantile(two_sided, df) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(st.floats(0.5, 500), st.floats(-60, 60))
def test_tails_are_those_of_scipy(df: float, t: float) -> None:
    assert one_sided_p(t, df) == pytest.approx(float(stats.t.sf(t, df)), rel=1e-7, abs=1e-12)
    assert two_sided_p(t, df) == pytest.approx(2 * float(stats.t.sf(abs(t), df)), rel=1e-7, abs=1e-12)


@given(st.lists(logs, min_size=2, max_size=30))
def test_the_trimmed_mean_and_its_error_are_those_of_scipy(values: list[float]) -> None:
    cut = trimmed_away(len(values))
    winsorised = np.asarray(stats.mstats.winsorize(np.array(values), (cut / len(values) + 1e-9,) * 2))
    kept = len(values) - 2 * cut
    found = centre_of(values)
    assert found.mean == pytest.approx(float(stats.trim_mean(values, cut / len(values) + 1e-9)), abs=1e-9)
    # Yuen's error of a mean: the winsorised sum of squares over those that are kept.
    squares = winsorised.var(ddof=1) * (len(values) - 1) / (kept * (kept - 1))
    assert found.error == pytest.approx(math.sqrt(squares), abs=1e-9)


@given(st.lists(logs, min_size=5, max_size=7, unique=True))
def test_few_pairs_give_the_paired_t_test_of_scipy(values: list[float]) -> None:
    expected = stats.ttest_1samp(values, 0.0)
    found = centre_of(values)
    assert found.p_differs() == pytest.approx(float(expected.pvalue), rel=1e-6, abs=1e-9)
    assert found.interval(0.05) == pytest.approx(tuple(expected.confidence_interval(0.95)), abs=1e-6)


def test_one_side_is_half_of_two_and_the_other_side_the_rest() -> None:
    assert one_sided_p(2.262, 9) == pytest.approx(0.025, abs=1e-4)
    assert one_sided_p(-2.262, 9) == pytest.approx(0.975, abs=1e-4)
    assert (two_sided_p(math.nan, 3), two_sided_p(math.inf, 3), two_sided_p(0.0, 3)) == (1.0, 0.0, pytest.approx(1.0))


@given(st.lists(logs, min_size=2, max_size=30))
def test_turning_the_sides_round_turns_the_answer_round(values: list[float]) -> None:
    found, turned = centre_of(values), centre_of([-value for value in values])
    assert turned.mean == pytest.approx(-found.mean, abs=1e-9)
    assert turned.error == pytest.approx(found.error, abs=1e-9)
    low, high = found.interval(0.05)
    assert turned.interval(0.05) == (pytest.approx(-high, abs=1e-6), pytest.approx(-low, abs=1e-6))


@given(st.lists(logs, min_size=2, max_size=30), logs)
def test_a_factor_on_every_pair_moves_the_interval_by_that_factor(values: list[float], shift: float) -> None:
    found, moved = centre_of(values), centre_of([value + shift for value in values])
    assert moved.mean == pytest.approx(found.mean + shift, abs=1e-9)
    assert moved.error == pytest.approx(found.error, abs=1e-9)


@given(st.lists(logs, min_size=2, max_size=30))
def test_more_certainty_is_a_wider_interval_around_the_mean(values: list[float]) -> None:
    found = centre_of(values)
    usual, surer = found.interval(0.05), found.interval(0.01)
    assert surer[0] <= usual[0] <= found.mean <= usual[1] <= surer[1]
    assert min(values) - 1e-9 <= found.mean <= max(values) + 1e-9


@given(st.permutations([0.01, 0.02, -0.03, 0.5, 0.04, 0.0, -0.02]))
def test_the_order_of_pairs_does_not_matter(values: list[float]) -> None:
    assert centre_of(values).mean == pytest.approx(centre_of(sorted(values)).mean)


def test_one_wild_pair_widens_the_interval_and_hardly_moves_the_middle() -> None:
    steady = [0.01, -0.01, 0.02, 0.0, 0.01, -0.02, 0.0, 0.01, -0.01, 0.0]
    wild = [*steady[:-1], 2.0]
    assert abs(centre_of(wild).mean - centre_of(steady).mean) < 0.01
    assert centre_of(wild).error > centre_of(steady).error
    assert outliers_of(wild) == [9]
    assert outliers_of(steady) == []


def test_nothing_is_trimmed_from_few_pairs_and_one_in_seven_from_many() -> None:
    assert [trimmed_away(n) for n in (5, 7, 8, 13, 14, 20, 21)] == [0, 0, 1, 1, 2, 2, 3]


def test_pairs_that_all_agree_leave_no_doubt() -> None:
    found = centre_of([0.1] * 6)
    assert found.interval(0.05) == (pytest.approx(0.1), pytest.approx(0.1))
    assert found.p_differs() < 1e-12
    assert centre_of([0.0] * 6).p_differs() == 1.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_is_none_gives_no_ratio(bad: float) -> None:
    assert log_ratios([1.0, bad], [1.0, 1.0]) is None
    assert log_ratios([1.0, 1.0], [bad, 1.0]) is None
    assert log_ratios([], []) is None


def test_a_ratio_above_one_says_that_the_candidate_is_faster() -> None:
    (found,) = log_ratios([2.0], [1.0]) or []
    assert math.exp(found) == pytest.approx(2.0)


# --- families ---------------------------------------------------------------------------------------------------------


@given(p_values)
def test_whoever_passes_in_a_family_would_pass_alone(found: dict[str, float]) -> None:
    judged = holm_levels(found)
    assert judged.keys() == found.keys()
    assert all(found[name] <= 0.05 for name, (_, passed) in judged.items() if passed)


@given(p_values)
def test_a_smaller_p_value_never_fares_worse(found: dict[str, float]) -> None:
    judged = holm_levels(found)
    ordered = sorted(found, key=lambda name: found[name])
    passed = [judged[name][1] for name in ordered]
    assert passed == sorted(passed, reverse=True)
    assert all((found[name] <= level) == ok for name, (level, ok) in judged.items() if ok)


def test_holm_holds_the_first_to_a_share_and_the_next_to_a_larger_one() -> None:
    judged = holm_levels({"a": 0.01, "b": 0.02, "c": 0.04, "d": 0.9})
    assert judged["a"] == (0.05 / 4, True)
    assert judged["b"] == (pytest.approx(0.05 / 3), False)
    assert judged["c"] == (pytest.approx(0.05 / 3), False)


# --- how many pairs ---------------------------------------------------------------------------------------------------


def like(spread: float, n: int) -> Centre:
    """What `n` undisturbed pairs that scatter so much give."""
    cut = trimmed_away(n)
    df = n - 2 * cut - 1 - (0.5 if cut else 0.0)
    return Centre(0.0, spread / math.sqrt(n), spread, df, n, n)


@given(st.floats(0.001, 0.5), st.integers(5, 60))
def test_more_pairs_find_smaller_differences(spread: float, n: int) -> None:
    fewer, more = minimal_detectable(like(spread, n)), minimal_detectable(like(spread, 4 * n))
    assert fewer is not None
    assert more is not None
    assert more < fewer


@given(st.floats(0.005, 0.3), st.floats(0.005, 0.3))
def test_the_pairs_that_are_needed_do_find_the_difference(spread: float, difference: float) -> None:
    needed = pairs_needed(like(spread, 10), difference)
    assert needed is not None
    assert needed >= FEWEST_PAIRS
    found = minimal_detectable(like(spread, needed))
    assert found is not None
    assert found <= difference


def test_no_number_of_pairs_finds_nothing() -> None:
    assert pairs_needed(like(0.1, 10), 0.0) is None
    assert pairs_needed(like(10.0, 10), 1e-6) is None
    assert minimal_detectable(centre_of([0.1])) is None


def test_what_is_called_detectable_is_found_in_four_of_five() -> None:
    source = np.random.default_rng(7)
    size = minimal_detectable(like(0.025, 10))
    assert size is not None
    found = sum(centre_of(source.normal(size, 0.025, 10)).interval(0.05)[0] > 0 for _ in range(1000))
    assert 730 <= found <= 900


def test_pairs_that_others_disturbed_find_no_more_than_their_interval_says() -> None:
    values, disturbances = [0.04, 0.03, 0.035, 0.036, 0.25, -0.2], [0.0, 0.0, 0.0, 0.0, 0.3, 0.3]
    found = centre_of(values, disturbances)
    low, high = found.interval(0.05)
    size, needed = minimal_detectable(found), pairs_needed(found, 0.005)
    assert found.worth < 5
    assert size is not None
    assert size > (high - low) / 2
    assert needed is not None
    assert needed > pairs_needed(like(found.spread, 6), 0.005)  # type: ignore[operator]


# --- on a machine made of numbers: the short form of benchmarks/compare_statistics.py ---------------------------------


@pytest.mark.parametrize("noise", [CALM, USUAL, BUSY], ids=["calm", "usual", "busy"])
@pytest.mark.parametrize("n", [5, 6, 10, 15])
@pytest.mark.parametrize("watched", [True, False], ids=["load known", "load unknown"])
def test_the_interval_holds_the_truth_as_often_as_it_says(noise: Noise, n: int, watched: bool) -> None:
    source = np.random.default_rng(n)
    truth = math.log(1.07)
    hits = 0
    for _ in range(1000):
        found = watched_pairs(noise, n, truth, source)
        low, high = centre_of(found.log_ratios, found.disturbances if watched else None).interval(0.05)
        hits += low <= truth <= high
    assert 925 <= hits <= 985  # 93 to 97.5%, and a standard error of 0.7%


@pytest.mark.parametrize("noise", [USUAL, BUSY], ids=["usual", "busy"])
def test_five_percent_are_found_with_ten_pairs_under_drift_load_and_warm_up(noise: Noise) -> None:
    source = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        seen = watched_pairs(noise, 10, math.log(1.05), source)
        found += centre_of(seen.log_ratios, seen.disturbances).interval(0.05)[0] > 0
    assert found >= 360


@pytest.mark.parametrize("noise", [CALM, USUAL, BUSY], ids=["calm", "usual", "busy"])
@pytest.mark.parametrize("n", [5, 10])
def test_equal_programs_are_called_different_in_one_of_twenty(noise: Noise, n: int) -> None:
    source = np.random.default_rng(8)
    alarms = 0
    for _ in range(1000):
        seen = watched_pairs(noise, n, 0.0, source)
        alarms += centre_of(seen.log_ratios, seen.disturbances).p_differs() <= 0.05
    assert alarms <= 75


@given(st.lists(logs, min_size=2, max_size=30), st.floats(0.0, 1.0))
def test_pairs_that_were_all_disturbed_alike_count_alike(values: list[float], disturbance: float) -> None:
    found, alike = centre_of(values), centre_of(values, [disturbance] * len(values))
    assert alike.mean == pytest.approx(found.mean, abs=1e-9)
    assert alike.error == pytest.approx(found.error, abs=1e-9)
    assert alike.df == pytest.approx(found.df)


def test_where_others_were_there_nearly_always_a_large_difference_is_still_found() -> None:
    """Weights would leave the fifth pair alone, and an interval from a thousandth to a thousand around ten."""
    values, disturbances = [2.26, 2.19, 2.27, 2.25, 2.26], [0.5, 0.4, 0.6, 0.3, 0.0]
    assert centre_of(values, disturbances) == centre_of(values)
    assert centre_of(values, disturbances).interval(0.01)[0] > 1


def test_a_disturbed_pair_pulls_less_and_leaves_less_certainty_than_a_quiet_one_in_its_place() -> None:
    quiet = [0.050, 0.055, 0.048, 0.052, 0.051, 0.049]
    far = [*quiet, 0.30]
    trusted, doubted = centre_of(far), centre_of(far, [0.0] * 6 + [0.25])
    assert abs(doubted.mean - 0.051) < 0.002 < abs(trusted.mean - 0.051)
    assert doubted.df < trusted.df


def test_a_program_that_does_not_feel_others_keeps_all_its_pairs() -> None:
    source = np.random.default_rng(6)
    found = sum(
        centre_of(source.normal(0.05, 0.01, 6), source.uniform(0.0, 0.3, 6)).interval(0.05)[0] > 0 for _ in range(300)
    )
    assert found >= 285


def test_load_that_is_known_of_some_runs_only_is_not_used() -> None:
    assert disturbances_of([(0.1, 0.3), (None, 0.2)]) is None
    assert disturbances_of([(0.1, 0.3), (0.2, 0.2)]) == pytest.approx([0.2, 0.0])


def test_a_family_of_phases_raises_a_false_alarm_in_one_of_twenty() -> None:
    source = np.random.default_rng(4)
    alarms = 0
    for _ in range(300):
        rows = family(USUAL, 10, np.array([math.log(1.3), *[0.0] * 9]), 0.5, source)
        judged = holm_levels({str(at): centre_of(row).p_differs() for at, row in enumerate(rows)})
        assert judged["0"][1]
        alarms += any(judged[str(at)][1] for at in range(1, 10))
    assert alarms <= 24  # 5%, and two standard errors
