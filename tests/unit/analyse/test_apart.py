"""A recording without its windows: what passed in them is gone, and what came later moves up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.report import build_report
from rlprof.analyse.torch_operators import MOST_OPERATORS
from rlprof.model.recording import Recording
from support.recordings import SECOND, START_NS, RecordingBuilder, a_child, a_recording, span


def ns(second: float) -> int:
    return START_NS + round(second * SECOND)


def a_window(start: float, end: float, **changes: Any) -> dict[str, Any]:
    return {"tool": "torch.profiler", "start_ns": ns(start), "end_ns": ns(end), "iterations": 3, **changes}


def recorded(*windows: dict[str, Any]) -> RecordingBuilder:
    """Ten seconds, half of them in `env.step`; from second 4 to 7 everything took twice as long."""
    builder = a_recording(seconds=10.0, facts={"windows": list(windows)})
    builder.spans(span("env.step", count=70, self_seconds=5.0))
    for start, end, calls in ((0, 4, 40), (4, 7, 15), (7, 10, 30)):
        half = (end - start) / 2
        builder.slice_of_time(start, end, {"": half, "env.step": half}, calls={"env.step": calls, "": 0})
    builder.counter_slices("env_steps", [(0, 4, 400), (4, 7, 150), (7, 10, 300)])
    builder.iterations([1.0] * 10, env_steps=100)
    builder.memory([(at, 1_000_000 * at, -1) for at in range(10)])
    return builder


def whole(recording: Recording) -> float:
    ledger = build_report(recording).ledger
    parts = ledger.attributed_seconds + ledger.unattributed_seconds + ledger.overhead_seconds
    assert parts == pytest.approx(ledger.wall_seconds)
    return ledger.wall_seconds


def test_a_recording_without_windows_is_left_as_it_is() -> None:
    recording = a_recording(seconds=10.0).spans(span("env.step", self_seconds=5.0)).build()
    assert outside_windows(recording) is recording


def test_what_passed_in_a_window_is_in_no_figure() -> None:
    report = build_report(recorded(a_window(3.999, 7.001)).build())
    assert report.run.wall_seconds == pytest.approx(7.0)
    assert report.throughput.env_steps == 700
    assert report.throughput.iterations == 7
    assert report.throughput.sps == pytest.approx(100.0)
    assert [window.sps for window in report.throughput.windows] == pytest.approx([100.0] * 7)
    (step,) = report.operations
    assert (step.calls, step.self_seconds) == (55, pytest.approx(3.5))
    assert whole(recorded(a_window(3.999, 7.001)).build()) == pytest.approx(7.0)
    (window,) = report.windows
    assert (window.iterations, window.apart) == (3, True)
    assert "note-windows" in {warning.code for warning in report.warnings}


def test_what_came_later_moves_up() -> None:
    found = outside_windows(recorded(a_window(3.999, 7.001)).build()).main
    assert ((found.iterations.start_ns - START_NS) / SECOND).tolist() == pytest.approx([0, 1, 2, 3, 4, 5, 6])
    assert ((found.memory.at_ns - START_NS) / SECOND).tolist() == pytest.approx([0, 1, 2, 3, 4, 5, 6])
    assert found.memory.rss_bytes.tolist() == [0, 1_000_000, 2_000_000, 3_000_000, 7_000_000, 8_000_000, 9_000_000]
    assert found.end_ns == ns(7.0)


def test_a_child_keeps_its_time_and_loses_what_it_counted_meanwhile() -> None:
    builder = recorded(a_window(3.999, 7.001))
    child = a_child(seconds=8.0).spans(span("env.step", count=8, self_seconds=4.0))
    builder.child(child.counter("transitions", 800.0))
    kept = outside_windows(builder.build()).processes[1]
    assert kept.recorded_ns == 8 * SECOND
    assert kept.counters["transitions"].amount == pytest.approx(500.0)
    assert whole(builder.build()) == pytest.approx(7.0)


def test_cutting_twice_changes_nothing_more() -> None:
    once = outside_windows(recorded(a_window(3.999, 7.001)).build())
    assert outside_windows(once) is once


def test_several_windows_are_cut_together() -> None:
    recording = recorded(a_window(6.999, 10.001, tool="cProfile"), a_window(3.999, 7.001)).build()
    report = build_report(recording)
    assert report.run.wall_seconds == pytest.approx(4.0)
    assert report.throughput.env_steps == 400


def test_a_window_without_a_flush_of_its_own_is_said_to_be_in_the_figures() -> None:
    report = build_report(recorded(a_window(4.5, 6.5)).build())
    assert report.run.wall_seconds == pytest.approx(10.0)
    assert [window.apart for window in report.windows] == [False]
    assert "windows" in {warning.code for warning in report.warnings}


def test_a_span_around_the_end_of_a_window_has_no_time_of_it() -> None:
    builder = recorded(a_window(3.999, 7.001, open_at_end=[[1, ns(6.0)]], opened_ns=ns(5.0)))
    builder.with_stats("env.step", max_ns=2 * SECOND, histogram={80: 69, bucket(2 * SECOND): 1})
    kept = outside_windows(builder.build()).main.stats[1]
    assert kept.total_ns == pytest.approx(5.0 * SECOND - 1.5 * SECOND - 1.0 * SECOND)
    assert kept.max_ns is not None
    assert kept.max_ns < SECOND


def bucket(duration_ns: int) -> int:
    from rlprof.model.histogram import bucket_of

    return bucket_of(duration_ns)


@pytest.mark.parametrize(
    "windows",
    [
        None,
        "x",
        [1, None],
        [{}],
        [{"start_ns": "a", "end_ns": None}],
        [a_window(9, 1)],
        [a_window(3, 8, open_at_end=3)],
    ],
    ids=str,
)
def test_facts_of_nonsense_do_no_harm(windows: Any) -> None:
    recording = recorded().build()
    main = replace(recording.main, facts={"windows": windows, "torch_operators": windows})
    assert whole(replace(recording, processes=(main,))) > 0


def test_operators_add_up_by_phase() -> None:
    rows = [[1, f"aten::op{number}", 2, 200 + number, 100 + number, 0] for number in range(20)]
    rows += [[0, "aten::outside", 1, 50, 50, 0], [99, "aten::unknown", 1, 50, 50, 0], ["x"], None]
    recording = recorded().build()
    main = replace(recording.main, facts={"torch_operators": rows})
    operators = build_report(replace(recording, processes=(main,))).operators
    assert operators is not None
    first, rest = operators
    assert (first.phase, rest.phase) == ("env.step", "unattributed")
    assert len(first.operators) == MOST_OPERATORS
    listed = sum(operator.self_seconds for operator in first.operators)
    assert (
        listed + first.other_seconds
        == pytest.approx(first.seconds)
        == pytest.approx(sum(100 + n for n in range(20)) / 1e9)
    )
    assert first.share + rest.share == pytest.approx(1.0)
    assert first.device_seconds is None
    assert np.isclose(rest.seconds, 1e-7)
