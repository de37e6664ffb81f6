"""A cure may bring more than the time it saves, because the rest runs faster without it; never unboundedly more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.advise.bounds import LARGEST_RATIO
from rlprof.advise.engine import RULES
from rlprof.advise.relief import MOST_RELIEF, relieved, with_relief
from rlprof.advise.report import complete_report
from rlprof.model.report import Finding, Gain
from support.recordings import a_recording, span

FOUND = Finding("render-cost", "critical", "frames", {}, (), Gain(2.0, 1.0, 2.0), "cure", False, "verify")


@given(st.floats(1.0, LARGEST_RATIO))
def test_the_upper_end_rises_and_the_other_figures_stay(high: float) -> None:
    gain = Gain(high, 1.0, high)
    found = relieved(gain)
    assert gain.high <= found.high <= min(gain.high / (1.0 - MOST_RELIEF) + 1e-9, LARGEST_RATIO)
    assert (found.sps_ratio, found.low) == (gain.sps_ratio, gain.low)


def test_what_takes_little_leaves_the_rest_about_as_it_was() -> None:
    assert relieved(Gain(1.05, 1.0, 1.05)).high < 1.09


def test_a_half_that_goes_may_take_a_third_of_the_rest_along() -> None:
    assert relieved(Gain(2.0, 1.0, 2.0)).high == pytest.approx(2.0 / 0.7)


def test_a_finding_that_saves_no_time_promises_none() -> None:
    assert relieved(Gain(1.0, 1.0, 1.0)).high == 1.0


def test_only_cures_that_take_work_away_relieve_the_rest() -> None:
    wait = replace(FOUND, rule="straggler")
    relieving = frozenset(rule.name for rule in RULES if rule.relieves)
    first, second = with_relief((FOUND, wait), relieving)
    assert first.gain.high > 2.0
    assert second == wait


def test_a_report_shows_the_wider_bound_but_weighs_by_the_time_itself() -> None:
    run = a_recording(seconds=100.0).spans(span("env.step", self_seconds=60.0), span("env.render", self_seconds=9.0))
    for finding in complete_report(run.build()).findings:
        assert finding.gain.high >= finding.gain.sps_ratio
        assert finding.severity != "critical" or finding.gain.sps_ratio >= 1.5
