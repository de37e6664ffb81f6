"""What the page draws besides the report: phases over time, lanes, call trees, memory, single iterations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.call_tree import call_trees
from rlprof.analyse.course import course_of
from rlprof.analyse.iteration_timeline import slow_timelines
from rlprof.analyse.lanes import lanes_of, state_of
from rlprof.analyse.memory_course import MOST_POINTS, memory_curves
from rlprof.analyse.page import page_figures
from rlprof.analyse.phase_course import phase_course_of
from rlprof.analyse.report import build_report
from rlprof.model.recording import EventTable, SlowIteration
from support.examples import busy_recording, hostile_recording, ppo_recording
from support.recordings import SECOND, START_NS, FrameSpec, a_child, a_recording, iteration, span

MAIN = FrameSpec("main", "/home/ann/train.py", 5)


def a_slow_one(index: int, at: float, seconds: float, spans: list[tuple[int, float, float]]) -> SlowIteration:
    """An iteration with its spans: path, when it began within the iteration, how long it took."""
    paths, starts, lengths = (np.array(column) for column in zip(*spans, strict=True))
    events = EventTable(
        paths, np.rint(START_NS + (at + starts) * SECOND).astype(np.int64), np.rint(lengths * SECOND).astype(np.int64)
    )
    return SlowIteration(index, START_NS + round(at * SECOND), round(seconds * SECOND), 0, 0, events)


def test_shares_over_time_are_those_of_the_slices() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(span("env.step", self_seconds=4.0), span("learn.loss", self_seconds=3.0))
    builder.slice_of_time(0.0, 5.0, {"env.step": 4.0, "": 1.0})
    builder.slice_of_time(5.0, 10.0, {"learn.loss": 3.0, "": 2.0})
    builder.counter_slices("env_steps", [(0.0, 5.0, 500), (5.0, 10.0, 1000)])
    recording = builder.build()
    found = phase_course_of(recording, course_of(recording))
    assert found is not None
    assert found.sps is not None
    assert len(found.edges_s) == 21
    assert found.shares["env.step"][3] == pytest.approx(0.8)
    assert found.shares["env.step"][15] == pytest.approx(0.0)
    assert found.shares["learn.loss"][15] == pytest.approx(0.6)
    assert found.shares["unattributed"][15] == pytest.approx(0.4)
    assert (found.sps[3], found.sps[15]) == pytest.approx((100.0, 200.0))


def test_a_run_of_a_moment_has_no_course() -> None:
    recording = a_recording(seconds=0.4).spans(span("env.step", self_seconds=0.2)).build()
    figures = page_figures(recording, build_report(recording))
    assert figures.course is None
    assert figures.lanes is None


def test_a_workers_time_outside_of_spans_is_idle_and_the_mains_has_no_span() -> None:
    assert state_of("unattributed", is_worker=True) == "idle"
    assert state_of("unattributed", is_worker=False) == "no span"
    assert [state_of(part, is_worker=False) for part in ("env.wait", "env.ipc", "env.step")] == [
        "wait",
        "IPC",
        "compute",
    ]


def test_lanes_share_one_clock_and_the_rest_is_counted() -> None:
    builder = a_recording(seconds=8.0)
    builder.spans(span("env.wait", self_seconds=6.0)).slice_of_time(0.0, 8.0, {"env.wait": 6.0, "": 2.0})
    worker = a_child(seconds=8.0, facts={"vector_worker": {}}).spans(span("env.step", self_seconds=2.0))
    worker.slice_of_time(4.0, 8.0, {"env.step": 2.0, "": 2.0})
    found = lanes_of(builder.child(worker).build())
    assert found is not None
    main, other = found.lanes
    assert main.seconds == pytest.approx({"wait": 6.0, "no span": 2.0})
    assert other.seconds == pytest.approx({"compute": 2.0, "idle": 2.0})
    assert other.shares["compute"][1] == 0.0
    assert other.shares["compute"][-1] == pytest.approx(0.5)
    assert found.left_out == 0


@pytest.mark.parametrize("make", [ppo_recording, busy_recording, hostile_recording])
def test_boxes_of_a_call_tree_lie_within_the_one_above(make: object) -> None:
    for tree in call_trees(make()):  # type: ignore[operator]
        for node in tree.nodes[1:]:
            assert node.parent is not None
            parent = tree.nodes[node.parent]
            assert parent.start - 1e-9 <= node.start <= node.end <= parent.end + 1e-9
            assert node.depth == parent.depth + 1
            assert node.end - node.start == pytest.approx(node.total_seconds / tree.seconds, abs=1e-9)


def test_functions_divide_the_time_of_the_span_they_were_sampled_in() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(span("env.step", self_seconds=8.0, count=4))
    step, dot = FrameSpec("step", "/home/ann/env.py", 7), FrameSpec("dot", "/x/site-packages/numpy/core.py", 3)
    builder.sample("env.step", 30, MAIN, step)
    builder.sample("env.step", 10, MAIN, step, dot)
    (tree,) = call_trees(builder.build())
    by_name = {node.name: node for node in tree.nodes}
    assert by_name["env.step"].self_seconds == pytest.approx(8.0)
    assert by_name["env.step"].calls == 4
    assert by_name["step"].total_seconds == pytest.approx(8.0)
    assert by_name["step"].self_seconds == pytest.approx(6.0)
    assert by_name["dot"].total_seconds == pytest.approx(2.0)
    assert by_name["dot"].calls is None
    assert "main" not in by_name  # a caller that all samples of the span share says nothing


def test_other_processes_are_one_tree() -> None:
    trees = call_trees(busy_recording())
    assert trees[-1].title == "4 other processes together"
    together = {node.name: node.total_seconds for node in trees[-1].nodes}
    assert together["env.step"] == pytest.approx(60.0 + 61.0 + 62.0 + 63.0, rel=0.01)


def test_a_damaged_count_of_samples_divides_nothing() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=8.0))
    builder.sample("env.step", 0, MAIN)
    (tree,) = call_trees(builder.build())
    assert [node.name for node in tree.nodes] == ["whole thread", "env.step"]


def test_peaks_of_memory_survive_thinning() -> None:
    builder = a_recording(seconds=100.0)
    builder.memory([(second / 10, 10**9 if second == 777 else 10**8, -1) for second in range(1000)])
    (curve,) = memory_curves(builder.build())
    assert len(curve.mb) == MOST_POINTS
    assert max(curve.mb) == 1000.0
    assert not curve.device


def test_device_memory_has_a_curve_of_its_own() -> None:
    curves = memory_curves(busy_recording())
    assert [curve.device for curve in curves] == [False, True]
    assert set(np.unique(curves[1].mb)) == {1200.0}


def test_spans_of_a_slow_iteration_are_nested_by_time() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(iteration(span("rollout", span("env.step", self_seconds=2.0), self_seconds=1.0), count=3))
    builder.iterations([1.0, 1.0, 4.0], env_steps=8)
    builder.slow_iteration(2, 2.0, 4.0, {"rollout": 3.0, "env.step": 2.0})
    (found,) = slow_timelines(builder.build())
    assert [(one.name, one.depth, one.parent) for one in found.spans] == [("rollout", 0, None), ("env.step", 1, 0)]
    assert found.spans[1].phase == "env.step"
    assert found.spans[1].seconds == pytest.approx(2.0)
    assert found.seconds == pytest.approx(4.0)


def test_where_the_flight_recorder_kept_nothing_a_schedules_events_are_taken() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(iteration(span("env.step", self_seconds=2.0), count=3))
    builder.iterations([1.0, 2.0, 4.0], env_steps=8)
    recording = builder.build()
    main = recording.main
    step = next(path.id for path in main.paths.values() if path.name == "env.step")
    start = int(main.iterations.start_ns[1])
    logged = EventTable(*(np.array([value], np.int64) for value in (step, start + 10**9, 5 * 10**8)))
    loaders = replace(main.load, events=lambda: logged)
    found = slow_timelines(replace(recording, processes=(replace(main, load=loaders),)))
    assert [(one.index, [(s.name, s.start_s, s.seconds) for s in one.spans]) for one in found] == [
        (1, [("env.step", pytest.approx(1.0), pytest.approx(0.5))])
    ]


def test_what_passed_in_a_window_of_another_profiler_is_in_no_chart_but_those_of_all_processes() -> None:
    window = {"tool": "cProfile", "iterations": 1, "start_ns": START_NS + 4 * SECOND, "end_ns": START_NS + 7 * SECOND}
    builder = a_recording(seconds=10.0, facts={"windows": [window]}).spans(span("env.step", self_seconds=5.0))
    for start, end, part in ((0, 4, 2.0), (4, 7, 3.0), (7, 10, 1.5)):
        builder.slice_of_time(start, end, {"env.step": part, "": end - start - part})
    builder.memory([(at, 1_000_000, -1) for at in range(10)])
    recording = builder.build()
    figures = page_figures(recording, build_report(recording))
    assert figures.course is not None
    assert figures.lanes is not None
    assert figures.course.edges_s[-1] == pytest.approx(7.0)
    assert max(figures.course.shares["env.step"]) == pytest.approx(0.5)
    assert figures.lanes.edges_s[-1] == pytest.approx(10.0)
    assert figures.trees[0].seconds == pytest.approx(7.0)


def test_the_spans_of_an_iteration_behind_a_window_are_still_where_they_were_in_it() -> None:
    window = {"tool": "cProfile", "iterations": 1, "start_ns": START_NS + 2 * SECOND, "end_ns": START_NS + 5 * SECOND}
    builder = a_recording(seconds=10.0, facts={"windows": [window]}).spans(span("env.step", self_seconds=5.0))
    for start, end in ((0, 2), (2, 5), (5, 10)):
        builder.slice_of_time(start, end, {"env.step": 0.5 * (end - start), "": 0.5 * (end - start)})
    builder.iterations([1.0] * 10)
    builder.slow = (a_slow_one(8, 8.0, 1.0, [(builder.find("env.step"), 0.25, 0.5)]),)
    (found,) = slow_timelines(outside_windows(builder.build()))
    assert found.at_s == pytest.approx(5.0)
    assert [(one.start_s, one.seconds) for one in found.spans] == [(pytest.approx(0.25), pytest.approx(0.5))]


def test_the_slowest_iteration_is_shown_whole_and_the_others_in_what_room_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rlprof.analyse.iteration_timeline.MOST_SPANS", 10)
    monkeypatch.setattr("rlprof.analyse.iteration_timeline.FEWEST_SPANS", 2)
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=5.0)).iterations([1.0] * 10)
    step = builder.find("env.step")
    builder.slow = tuple(
        a_slow_one(index, index, 1.0 - 0.1 * index, [(step, 0.1 * turn, 0.05) for turn in range(count)])
        for index, count in ((3, 6), (4, 5))
    )
    first, second = slow_timelines(builder.build())
    assert (len(first.spans), first.left_out) == (6, 0)
    assert (len(second.spans), second.left_out) == (4, 1)
