"""Memory peaks and growth; the slowest iterations."""

from __future__ import annotations

import pytest

from rlprof.analyse.report import build_report
from support.recordings import a_child, a_recording, iteration, span


def test_memory_nobody_measured_is_absent() -> None:
    memory = build_report(a_recording().spans().build()).memory
    assert (memory.rss_peak_mb, memory.rss_slope_mb_per_min, memory.gpu_peak_mb) == (None, None, None)


def test_the_peak_is_the_highest_of_samples_and_spans() -> None:
    builder = a_recording(seconds=10.0).spans(span("a", self_seconds=1.0, rss_rise=300_000_000))
    builder.memory([(1.0, 600_000_000, -1), (2.0, 700_000_000, -1)])
    assert build_report(builder.build()).memory.rss_peak_mb == pytest.approx(800.0)


def test_growth_is_robust_against_a_jump() -> None:
    rows = [(float(s), 100_000_000 + 1_000_000 * s + (400_000_000 if s == 30 else 0), -1) for s in range(60)]
    builder = a_recording(seconds=60.0)
    builder.spans().memory(rows)
    assert build_report(builder.build()).memory.rss_slope_mb_per_min == pytest.approx(60.0, rel=1e-3)


def test_growth_over_less_than_half_a_minute_is_not_claimed() -> None:
    builder = a_recording(seconds=29.0)
    builder.spans().memory([(float(s), 1_000_000 * s, -1) for s in range(29)])
    assert build_report(builder.build()).memory.rss_slope_mb_per_min is None


def test_a_long_series_is_thinned_and_keeps_its_slope() -> None:
    builder = a_recording(seconds=3600.0)
    builder.spans().memory([(float(s), 1_000_000 * s, -1) for s in range(3600)])
    assert build_report(builder.build()).memory.rss_slope_mb_per_min == pytest.approx(60.0)


def test_device_memory_is_that_of_the_process_that_held_most() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans().memory([(1.0, 1, -1)])
    child = a_child(seconds=10.0)
    child.spans().memory([(1.0, 1, 5_000_000), (2.0, 1, 9_000_000)])
    assert build_report(builder.child(child).build()).memory.gpu_peak_mb == pytest.approx(9.0)


def test_slowest_iterations_come_first_with_their_phases_adding_up() -> None:
    builder = a_recording(seconds=30.0)
    builder.spans(iteration(span("rollout", span("env.step"), phase="policy.forward"), span("log"), count=10))
    builder.iterations([1.0] * 9 + [4.0])
    builder.slow_iteration(3, 3.0, 1.0, {"rollout": 0.9, "env.step": 0.5})
    builder.slow_iteration(9, 9.0, 4.0, {"rollout": 1.0, "env.step": 0.75, "log": 2.5})
    slow = build_report(builder.build()).slow_iterations
    assert [entry.index for entry in slow] == [9, 3]
    assert slow[0].t == pytest.approx(9.0)
    assert slow[0].times_median == pytest.approx(4.0)
    assert slow[0].phases == pytest.approx({"log": 2.5, "env.step": 0.75, "unattributed": 0.5, "policy.forward": 0.25})
    assert next(iter(slow[0].phases)) == "log"


def test_without_details_the_slowest_are_still_named() -> None:
    builder = a_recording(seconds=30.0)
    builder.spans(iteration(count=4)).iterations([1.0, 2.0, 5.0, 1.0])
    slow = build_report(builder.build()).slow_iterations
    assert [entry.index for entry in slow][:2] == [2, 1]
    assert slow[0].phases == {}


def test_a_run_without_iterations_has_no_slow_ones() -> None:
    assert build_report(a_recording().spans().build()).slow_iterations == ()
