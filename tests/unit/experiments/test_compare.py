"""From pairs to verdicts: overall, by phase, by operation, for memory."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.compare import Circumstances, Incomparable, compare
from rlprof.experiments.measurements import Measurement
from rlprof.experiments.regression import Allowed, regressions_of
from rlprof.model.comparison import Comparison, Side

SIDES = (Side("old", ("a.rlprof",)), Side("new", ("b.rlprof",)))
Pair = tuple[Measurement, Measurement]


def measurement(scale: float = 1.0, memory: float | None = 300.0, **phases: float) -> Measurement:
    """Milliseconds per env step by phase; underscores stand for dots."""
    named = {name.replace("_", "."): scale * 1e-3 * value for name, value in phases.items()}
    operations = {("iteration", name): seconds for name, seconds in named.items()}
    return Measurement("env step", 1000.0, sum(named.values()), named, operations, memory)


def noisy_pairs(n: int, a: dict[str, float], b: dict[str, float], noise: float = 0.01, seed: int = 1) -> list[Pair]:
    source = random.Random(seed)

    def run(phases: dict[str, float]) -> Measurement:
        return measurement(**{name: value * source.lognormvariate(0, noise) for name, value in phases.items()})

    return [(run(a), run(b)) for _ in range(n)]


def compared(pairs: list[Pair], **how: object) -> Comparison:
    return compare(SIDES, pairs, replace(Circumstances(), **how))


OLD = {"env_step": 6.0, "learn_loss": 3.0, "log": 1.0}


def test_a_faster_phase_is_found_and_what_it_saves_of_the_whole() -> None:
    found = compared(noisy_pairs(10, OLD, {**OLD, "learn_loss": 1.5}))
    assert found.overall.verdict == "faster"
    assert found.overall.ratio == pytest.approx(10 / 8.5, rel=0.02)
    by_phase = {row.phase: row for row in found.phases}
    assert by_phase["learn.loss"].verdict == "faster"
    assert by_phase["learn.loss"].ratio == pytest.approx(2.0, rel=0.03)
    assert by_phase["learn.loss"].contribution == pytest.approx(0.15, abs=0.01)
    assert by_phase["env.step"].verdict == by_phase["log"].verdict == "same"
    assert [row.path[-1] for row in found.operations if row.verdict == "faster"] == ["learn.loss"]
    assert found.sps is not None
    assert found.sps.candidate > found.sps.baseline


def test_a_slower_candidate_has_a_ratio_below_one() -> None:
    found = compared(noisy_pairs(10, OLD, {**OLD, "env_step": 9.0}))
    assert (found.overall.verdict, found.phases[0].verdict) == ("slower", "slower")
    assert found.overall.high is not None
    assert found.overall.high < 1


def test_equal_sides_are_the_same_where_they_are_steady_and_cannot_be_told_where_they_are_not() -> None:
    steady = compared(noisy_pairs(10, OLD, OLD, noise=0.005))
    assert steady.overall.verdict == "same"
    assert steady.overall.differs_at_most is not None
    assert steady.overall.differs_at_most < 0.03
    assert steady.more_pairs_needed == 0
    shaky = compared(noisy_pairs(10, OLD, OLD, noise=0.2))
    assert shaky.overall.verdict == "cannot-tell"
    assert shaky.more_pairs_needed
    assert shaky.minimal_detectable is not None
    assert shaky.minimal_detectable > 0.05


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_than_five_pairs_give_no_verdict_however_clear(n: int) -> None:
    found = compared(noisy_pairs(n, OLD, {**OLD, "env_step": 1.0}))
    assert found.overall.verdict == "cannot-tell"
    assert {row.verdict for row in (*found.phases, *found.operations)} == {"cannot-tell"}
    assert found.memory is not None
    assert found.memory.verdict == "cannot-tell"
    assert [warning.code for warning in found.warnings] == ["few-pairs"]
    assert found.overall.ratio is not None
    assert (found.overall.low is None) == (n == 1)


def test_five_clear_pairs_give_one() -> None:
    assert compared(noisy_pairs(5, OLD, {**OLD, "env_step": 3.0})).overall.verdict == "faster"


def test_a_phase_that_is_gone_or_new_has_no_ratio_but_a_verdict() -> None:
    new = {"env_step": 6.0, "learn_loss": 3.0, "checkpoint": 0.8}
    rows = {row.phase: row for row in compared(noisy_pairs(10, OLD, new)).phases}
    assert (rows["log"].ratio, rows["log"].verdict) == (None, "faster")
    assert (rows["checkpoint"].ratio, rows["checkpoint"].verdict) == (None, "slower")
    assert rows["checkpoint"].contribution == pytest.approx(-0.08, abs=0.01)


def test_what_hardly_takes_any_time_is_shown_but_not_judged() -> None:
    rows = compared(noisy_pairs(10, {**OLD, "gc": 0.001}, {**OLD, "gc": 0.01})).phases
    assert next(row for row in rows if row.phase == "gc").verdict == "cannot-tell"


def test_a_family_of_equal_phases_seldom_raises_an_alarm() -> None:
    many = {f"p{at}": 1.0 for at in range(12)}
    alarms = 0
    for seed in range(100):
        found = compared(noisy_pairs(10, many, many, noise=0.03, seed=seed))
        alarms += any(row.verdict in ("faster", "slower") for row in found.phases)
    assert alarms <= 11


def test_memory_that_differs_by_next_to_nothing_is_the_same() -> None:
    pairs = [(measurement(**OLD), measurement(memory=301.0 + at / 10, **OLD)) for at in range(8)]
    memory = compared(pairs).memory
    assert memory is not None
    assert memory.verdict == "same"
    grown = compared([(a, replace(b, memory_mb=400.0 + at)) for at, (a, b) in enumerate(pairs)]).memory
    assert grown is not None
    assert grown.verdict == "slower"
    assert compared([(replace(a, memory_mb=None), b) for a, b in pairs]).memory is None


def test_a_pair_far_from_the_others_is_reported_and_counted() -> None:
    pairs = noisy_pairs(10, OLD, OLD)
    pairs[3] = (pairs[3][0], measurement(5.0, **OLD))
    found = compared(pairs)
    assert [outlier.pair for outlier in found.outliers] == [4]
    assert found.pairs == 10


def test_sides_that_are_measured_by_different_work_are_refused() -> None:
    a, b = noisy_pairs(1, OLD, OLD)[0]
    with pytest.raises(Incomparable, match="count env steps in both"):
        compared([(a, replace(b, per="iteration"))])
    with pytest.raises(Incomparable, match="no complete pair"):
        compared([])
    with pytest.raises(Incomparable, match="nothing to compare"):
        compared([(a, replace(b, seconds=0.0))])


def test_different_amounts_of_work_are_warned_of() -> None:
    pairs = [(a, replace(b, amount=2000.0)) for a, b in noisy_pairs(6, OLD, OLD)]
    assert [warning.code for warning in compared(pairs).warnings] == ["different-work"]


def test_a_warm_up_of_another_length_is_no_other_amount_of_work() -> None:
    pairs = [(a, replace(b, amount=700.0)) for a, b in noisy_pairs(6, OLD, OLD)]
    whole = [(replace(a, whole_amount=1100.0), replace(b, whole_amount=1100.0)) for a, b in pairs]
    assert compared(whole).warnings == ()
    less = [(a, replace(b, whole_amount=600.0)) for a, b in whole]
    assert [warning.code for warning in compared(less).warnings] == ["different-work"]


def test_who_looks_more_often_is_held_to_more_and_needs_more_pairs() -> None:
    pairs = [(measurement(**OLD), measurement(scale=scale, **OLD)) for scale in (0.9, 1.1, 1.0) * 2]
    once, early = compared(pairs), compared(pairs, level=0.002, next_level=0.005, stopped_early=True)
    assert (once.overall.level, once.stopped_early) == (pytest.approx(0.95), False)
    assert (early.overall.level, early.stopped_early) == (pytest.approx(0.998), True)
    assert once.overall.verdict == early.overall.verdict == "cannot-tell"
    assert early.minimal_detectable > once.minimal_detectable
    assert early.more_pairs_needed > 1.5 * once.more_pairs_needed


@given(st.integers(5, 12), st.integers(0, 1000))
def test_contributions_add_up_to_the_change_of_the_whole(n: int, seed: int) -> None:
    found = compared(noisy_pairs(n, OLD, {**OLD, "env_step": 4.0}, noise=0.001, seed=seed))
    total = sum(row.contribution or 0.0 for row in found.phases)
    assert found.overall.ratio is not None
    assert total == pytest.approx(1 - 1 / found.overall.ratio, abs=0.01)


# --- regressions ------------------------------------------------------------------------------------------------------


def test_a_regression_beyond_what_is_allowed_is_found_overall_and_by_phase() -> None:
    pairs = noisy_pairs(8, OLD, {**OLD, "env_step": 9.0})
    found = {regression.what: regression for regression in regressions_of(pairs, Allowed())}
    assert set(found) == {"the training loop", "phase env.step"}
    assert found["phase env.step"].worse_by == pytest.approx(0.5, abs=0.05)
    assert 0.05 < found["phase env.step"].at_least < found["phase env.step"].worse_by


def test_a_slowdown_within_what_is_allowed_or_not_proven_passes() -> None:
    assert regressions_of(noisy_pairs(8, OLD, {**OLD, "env_step": 6.2}), Allowed()) == []
    assert regressions_of(noisy_pairs(8, OLD, {**OLD, "env_step": 7.0}, noise=0.3), Allowed()) == []
    assert regressions_of(noisy_pairs(8, OLD, {**OLD, "env_step": 3.0}), Allowed()) == []
    assert regressions_of(noisy_pairs(4, OLD, {**OLD, "env_step": 60.0}), Allowed()) == []


def test_memory_that_grows_is_a_regression() -> None:
    pairs = [(a, replace(b, memory_mb=500.0 + at)) for at, (a, b) in enumerate(noisy_pairs(6, OLD, OLD))]
    (found,) = regressions_of(pairs, Allowed())
    assert found.what == "peak memory"
    assert "grew by" in found.text()
    assert regressions_of(pairs, Allowed(memory_growth=1.0)) == []


def test_checks_of_equal_sides_seldom_raise_an_alarm() -> None:
    many = {f"p{at}": 1.0 for at in range(8)}
    alarms = sum(bool(regressions_of(noisy_pairs(8, many, many, 0.05, seed), Allowed(0.0, 0.0))) for seed in range(100))
    assert alarms <= 11


def test_phases_are_held_to_less_once_more_pairs_were_asked_for_in_the_light_of_them() -> None:
    pairs = noisy_pairs(8, OLD, {**OLD, "learn_loss": 2.96})
    planned, extended = ({row.phase: row for row in compared(pairs, family=level).phases} for level in (0.03, 0.005))
    for phase in planned:
        assert planned[phase].ratio == extended[phase].ratio
        assert extended[phase].low < planned[phase].low
        assert extended[phase].high > planned[phase].high


def test_runs_that_others_slowed_hide_no_difference_and_are_spoken_of() -> None:
    pairs = noisy_pairs(10, OLD, {**OLD, "env_step": 5.6})
    quiet = [(replace(a, other_load=0.01), replace(b, other_load=0.02)) for a, b in pairs]
    # Three candidates ran while others used a fifth of the machine, and took that much longer in every phase.
    slowed = {name: 1.2 * value for name, value in {**OLD, "env_step": 5.6}.items()}
    busy = [
        (a, replace(measurement(**slowed), other_load=0.21)) if at < 3 else (a, b) for at, (a, b) in enumerate(quiet)
    ]
    unseen = [(replace(a, other_load=None), replace(b, other_load=None)) for a, b in busy]
    found = compared(busy)
    assert (found.overall.verdict, compared(unseen).overall.verdict) == ("faster", "cannot-tell")
    assert found.overall.ratio == pytest.approx(compared(quiet).overall.ratio, rel=0.02)
    (warning,) = (warning for warning in found.warnings if warning.code == "uneven-load")
    assert "all 10 for 7" in warning.message
    assert all(warning.code != "uneven-load" for warning in compared(quiet).warnings)
