"""What a measurement says about a hypothesis: confirmed, refuted, cannot tell, does less work, failed, not tested."""

from __future__ import annotations

import pytest

from rlprof.experiments.investigate.verdicts import Outcome, expectation_of, verdict_of
from rlprof.model.comparison import Verdict
from rlprof.model.investigation import Finding
from support.investigations import a_measurement


@pytest.mark.parametrize(
    ("speed", "low", "high", "expected", "verdict"),
    [
        ("faster", 1.4, 1.6, 1.5, "confirmed"),
        ("faster", 1.02, 1.06, 3.0, "confirmed"),
        ("slower", 0.8, 0.9, 1.5, "refuted"),
        ("same", 0.99, 1.01, 1.02, "refuted"),
        ("cannot-tell", 0.9, 1.15, 2.0, "refuted"),
        ("cannot-tell", 0.9, 1.6, 2.0, "cannot-tell"),
        ("cannot-tell", 0.9, 1.05, 1.04, "cannot-tell"),
        ("cannot-tell", None, None, 2.0, "cannot-tell"),
    ],
)
def test_what_is_proven_to_be_faster_is_confirmed(
    speed: Verdict, low: float | None, high: float | None, expected: float, verdict: Finding
) -> None:
    outcome = Outcome(a_measurement(1.1, low, high), speed)
    assert verdict_of(outcome, expected) == verdict


def test_two_pairs_refute_nothing() -> None:
    assert verdict_of(Outcome(a_measurement(1.0, 0.99, 1.01, pairs=4)), 3.0) == "cannot-tell"


@pytest.mark.parametrize("speed", ["faster", "same", "cannot-tell"])
def test_a_speed_up_by_doing_less_is_called_that(speed: Verdict) -> None:
    outcome = Outcome(a_measurement(), speed, less_work=("env steps: 50 instead of 100, -50%",))
    assert verdict_of(outcome, 1.5) == "less-work"


def test_what_does_less_and_is_slower_all_the_same_is_refuted() -> None:
    assert verdict_of(Outcome(a_measurement(0.8, 0.7, 0.9), "slower", less_work=("env steps",)), 1.5) == "refuted"


def test_what_did_not_run_is_told_from_what_was_not_run() -> None:
    assert verdict_of(Outcome(failure="failed with exit code 1"), 1.5) == "failed"
    assert verdict_of(Outcome(untested="the budget was spent"), 1.5) == "untested"


@pytest.mark.parametrize(("expected", "found"), [(1.5, "met"), (1.3, "exceeded"), (2.0, "short")])
def test_what_helps_is_held_against_what_was_expected(expected: float, found: str) -> None:
    assert expectation_of("confirmed", a_measurement(), expected) == found


def test_what_does_not_help_is_held_against_nothing() -> None:
    assert expectation_of("refuted", a_measurement(), 1.5) is None
    assert expectation_of("confirmed", a_measurement(), None) is None
