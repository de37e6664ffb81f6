"""What the measurement of a change says about the hypothesis behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from rlprof.model.comparison import Verdict
from rlprof.model.investigation import Expectation, Finding, Measured

#: Less than this part of the expected gain, and the expectation was wrong.
LEAST_OF_EXPECTED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that the trials of one change came to."""

    measured: Measured | None = None
    speed: Verdict = "cannot-tell"
    less_work: tuple[str, ...] = ()  # sentences: what the change does less of, though it does not say so
    failure: str | None = None  # why there is nothing to compare
    untested: str | None = None  # why it was not run
    notes: tuple[str, ...] = ()


def verdict_of(outcome: Outcome, expected: float | None) -> Finding:
    """Confirmed is what is proven to be faster for the same work."""
    if outcome.untested is not None:
        return "untested"
    if outcome.failure is not None or outcome.measured is None:
        return "failed"
    if outcome.speed == "slower":
        return "refuted"
    if outcome.less_work:
        return "less-work"
    if outcome.speed == "faster":
        return "confirmed"
    if outcome.speed == "same" or _rules_out(outcome.measured, expected):
        return "refuted"
    return "cannot-tell"


def _rules_out(measured: Measured, expected: float | None) -> bool:
    """Whether even half of what was expected lies outside of what the measurement allows."""
    if expected is None or measured.high is None or measured.pairs < 5:
        return False
    return math.log(max(measured.high, 1e-9)) < LEAST_OF_EXPECTED * math.log(expected)


def expectation_of(verdict: Finding, measured: Measured | None, expected: float | None) -> Expectation | None:
    """Whether it brought what was expected; None where it did not help or nothing was expected."""
    if verdict != "confirmed" or measured is None or expected is None or measured.low is None or measured.high is None:
        return None
    if expected > measured.high:
        return "short"
    return "exceeded" if expected < measured.low else "met"
