"""How a run has gone so far: few points that still add up, on one axis, in an order that stays."""

from __future__ import annotations

import pytest

from rlprof.analyse.course_so_far import MOST_PHASES, MOST_POINTS, REST, CourseSoFar, course_so_far
from rlprof.analyse.over_time import moments
from rlprof.analyse.report import build_report
from rlprof.model.phases import PHASES, UNATTRIBUTED
from support.recordings import RecordingBuilder, a_child, a_recording, span


def course(builder: RecordingBuilder) -> CourseSoFar:
    recording = builder.build()
    return course_so_far(recording, build_report(recording), list(moments(recording)))


def a_run(seconds: int) -> RecordingBuilder:
    """Steps in every second, learning in the last ten."""
    builder = a_recording(seconds=float(seconds)).spans(
        span("step", phase="env.step", self_seconds=0.5 * seconds),
        span("learn", phase="learn.loss", self_seconds=4.0),
    )
    for second in range(seconds):
        own = {"step": 0.5, **({"learn": 0.4} if second >= seconds - 10 else {})}
        builder.slice_of_time(second, second + 1.0, own)
    return builder.counter("env_steps", 100.0 * seconds)


def test_now_is_the_last_ten_seconds_and_the_whole_is_the_whole() -> None:
    found = course(a_run(40))
    assert found.sps_now == pytest.approx(100.0)
    assert found.now_of("learn.loss") == pytest.approx(0.4)
    assert found.whole_of("learn.loss") == pytest.approx(0.1)
    assert found.now_of("env.step") == pytest.approx(found.whole_of("env.step")) == pytest.approx(0.5)


def test_a_long_run_becomes_few_points_with_the_same_means() -> None:
    found = course(a_run(1500))
    assert MOST_POINTS / 2 < len(found.points) <= MOST_POINTS
    assert found.points[-1].end_s == pytest.approx(1500)
    at = found.phases.index("env.step")
    assert all(point.shares[at] == pytest.approx(0.5) and point.sps == pytest.approx(100) for point in found.points)


def test_a_point_covers_some_turns_of_the_loop() -> None:
    """A loop that collects for a second and learns for a second is not fast and slow in turns."""
    builder = a_recording(seconds=120.0).spans(span("step", phase="env.step", self_seconds=60.0))
    for second in range(120):
        builder.slice_of_time(second, second + 1.0, {"step": 0.0 if second % 2 else 1.0})
    builder.counter_slices("env_steps", [(s, s + 1.0, 0.0 if s % 2 else 200.0) for s in range(120)])
    found = course(builder.iterations([2.0] * 60))
    assert len(found.points) == 20
    assert all(point.sps == pytest.approx(100.0) for point in found.points)


def test_phases_stand_in_the_vocabularys_order_and_what_is_too_much_is_together() -> None:
    chosen = PHASES[: MOST_PHASES + 3]
    builder = a_recording(seconds=22.0).spans(
        *(span(phase, phase=phase, self_seconds=2.0 - 0.1 * at) for at, phase in enumerate(chosen))
    )
    builder.slice_of_time(0.0, 22.0, {phase: 2.0 - 0.1 * at for at, phase in enumerate(chosen)})
    found = course(builder)
    assert found.phases == (*chosen[:MOST_PHASES], REST, UNATTRIBUTED)
    rest = sum((2.0 - 0.1 * at) / 22.0 for at in range(MOST_PHASES, MOST_PHASES + 3))
    assert found.whole_of(REST) == pytest.approx(rest, abs=1e-6)
    (point,) = found.points
    assert point.shares[found.phases.index(REST)] == pytest.approx(rest)


def test_memory_is_what_was_last_sampled_before_each_point() -> None:
    builder = a_run(3).memory([(0.5, 100_000_000, -1), (1.5, 200_000_000, -1)])
    found = course(builder)
    assert [point.rss_mb for point in found.points] == [100.0, 200.0, 200.0]
    assert found.rss_now_mb == 200.0


def test_what_was_not_measured_is_absent() -> None:
    builder = a_recording(seconds=2.0).spans(span("a", phase="env.step", self_seconds=1.0))
    found = course(builder.slice_of_time(0.0, 2.0, {"a": 1.0}))
    assert (found.sps_now, found.rss_now_mb, found.points[0].sps, found.points[0].rss_mb) == (None, None, None, None)
    assert course(a_recording(seconds=1.0)).points == ()


def test_steps_that_workers_count_are_the_runs_where_the_main_process_counts_none() -> None:
    builder = a_recording(seconds=4.0).spans(span("a", phase="env.wait", self_seconds=4.0))
    for second in range(4):
        builder.slice_of_time(second, second + 1.0, {"a": 1.0})
    for _ in range(2):
        builder.child(a_child(seconds=4.0).counter("env_steps", 40))
    assert course(builder).sps_now == pytest.approx(20.0)
