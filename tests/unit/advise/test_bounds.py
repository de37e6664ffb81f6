"""Bounds on gains are over the time that the program itself needs for training."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlprof.advise.bounds import gain_if_free, gain_of_saving, severity_of, training_seconds
from rlprof.analyse.report import build_report
from rlprof.model.report import Drilldown, Gain, LibraryCall, LineEntry, Report
from support.recordings import a_recording, span


def report(**ledger: float) -> Report:
    built = build_report(a_recording(seconds=20.0).spans(span("env.step", self_seconds=12.0)).build())
    return replace(built, ledger=replace(built.ledger, **ledger))


def test_what_lies_before_training_does_not_count() -> None:
    assert training_seconds(report()) == 20.0
    assert training_seconds(report(startup_seconds=3.0, setup_seconds=5.0)) == 12.0
    assert gain_if_free(report(startup_seconds=3.0, setup_seconds=5.0), 6.0) == Gain(2.0, 1.0, 2.0)


def test_modules_that_are_loaded_late_do_not_count() -> None:
    loads = LineEntry(
        "train.py",
        9,
        "main",
        True,
        4.0,
        3.0,
        5.0,
        0.2,
        40,
        (LibraryCall("torch/__init__.py", 1, "import torch._dynamo", 3.9, 39),),
    )
    works = replace(loads, line=12, seconds=2.0, calling=(LibraryCall("json/__init__.py", 7, "dumps", 1.9, 19),))
    part = Drilldown("unattributed", 6.0, 60, 60.0, (loads, works), 0.0, 0.0)
    assert training_seconds(replace(report(), drilldown=(part,))) == 16.0


def test_rlprofs_own_cost_does_not_count_either() -> None:
    # Half of 2 s of overhead falls into the 10 s of training: without it 9 s.
    assert gain_if_free(report(startup_seconds=10.0, overhead_seconds=2.0), 6.0).high == pytest.approx(9 / 3)


def test_a_range_of_savings_gives_a_range_of_gains() -> None:
    assert gain_of_saving(report(), 5.0, 10.0) == Gain(2.0, pytest.approx(20 / 15), 2.0)


@pytest.mark.parametrize("saved", [20.0, 50.0, 19.99])
def test_a_gain_stays_finite(saved: float) -> None:
    assert gain_if_free(report(), saved).high == 100.0


def test_a_run_without_training_gains_nothing() -> None:
    assert gain_if_free(report(startup_seconds=20.0), 5.0) == Gain(1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("high", "severity"), [(1.5, "critical"), (1.49, "warning"), (1.1, "warning"), (1.05, "info"), (1.02, None)]
)
def test_how_loudly_a_gain_may_be_said(high: float, severity: str | None) -> None:
    assert severity_of(Gain(high, 1.0, high)) == severity
