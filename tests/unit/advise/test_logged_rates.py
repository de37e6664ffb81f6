"""`cumulative-fps` tells a rate over the whole run from one of the last moments, by the values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlprof.model.report import Finding
from support.advice import found
from support.recordings import FACTS, SECOND, START_NS, a_recording, span

Rate = Callable[[float], float]

#: A thousand steps per second for ten seconds, then two hundred: by moment, how many were done.
BEGIN, CHANGE, END = 2.0, 12.0, 32.0


def steps_by(at: float) -> float:
    return 1000.0 * (min(at, CHANGE) - BEGIN) + 200.0 * max(at - CHANGE, 0.0)


def cumulative(at: float) -> float:
    return steps_by(at) / (at - BEGIN)


def windowed(at: float) -> float:
    return (steps_by(at) - steps_by(at - 1.0)) / 1.0


def logged(rate: Rate, moments: Any = None, late: float = 200.0, **fact: Any) -> Finding | None:
    known = moments if moments is not None else [BEGIN + 2.0 + index for index in range(28)]
    values = [[START_NS + round(at * SECOND), rate(at)] for at in known]
    row = {"tag": "charts/SPS", "file": "/home/ann/train.py", "line": 70, "function": "main", "values": values, **fact}
    builder = a_recording(seconds=END, facts={**FACTS, "logged_rates": [row]})
    builder.spans(span("env.step", count=1000, self_seconds=30.0, phase="env.step"))
    first = [(at, at + 0.5, 500.0) for at in (BEGIN + 0.5 * n for n in range(20))]
    then = [(at, at + 0.5, late / 2) for at in (CHANGE + 0.5 * n for n in range(40))]
    return found(builder.counter_slices("env_steps", first + then), "cumulative-fps")


def test_a_rate_over_the_whole_run_is_named_with_its_line_once_the_run_has_changed() -> None:
    finding = logged(cumulative)
    assert finding is not None
    assert (finding.severity, finding.gain.high, finding.where[0].line) == ("info", 1.0, 70)
    assert finding.evidence["sps_of_the_last_part"] == pytest.approx(200.0, rel=0.02)
    assert finding.evidence["counts_from_seconds"] == pytest.approx(BEGIN, abs=0.1)


@pytest.mark.parametrize(
    ("rate", "changes"),
    [
        pytest.param(windowed, {}, id="of the last second"),
        pytest.param(lambda at: 1000.0, {"late": 1000.0}, id="nothing has changed"),
        pytest.param(cumulative, {"moments": [10.0, 20.0, 30.0]}, id="few values"),
        pytest.param(lambda at: 60.0, {}, id="something else"),
        pytest.param(lambda at: 0.0, {}, id="zero"),
        pytest.param(cumulative, {"values": "none"}, id="a fact of another form"),
        pytest.param(cumulative, {"values": [["a", 1], [1], None, 3]}, id="values of another form"),
    ],
)
def test_other_rates_are_left_in_peace(rate: Rate, changes: dict[str, Any]) -> None:
    assert logged(rate, **changes) is None


def test_a_rate_that_a_library_logs_has_no_line() -> None:
    finding = logged(cumulative, file="", line=0)
    assert finding is not None
    assert finding.where == ()
