"""Steps per second: overall, over time, once warm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.grid import Slices, spread
from rlprof.analyse.throughput import throughput_of
from rlprof.model.report import Throughput
from support.recordings import RecordingBuilder, a_child, a_recording


def throughput(builder: RecordingBuilder) -> Throughput:
    return throughput_of(builder.build(), builder.seconds)


def test_what_nobody_counted_is_absent() -> None:
    found = throughput(a_recording(seconds=10.0))
    assert (found.env_steps, found.episodes, found.updates, found.iterations) == (None, None, None, None)
    assert (found.sps, found.sps_steady, found.updates_per_env_step, found.windows) == (None, None, None, ())


def test_counts_of_workers_are_summed_where_the_main_process_counts_nothing() -> None:
    builder = a_recording(seconds=10.0)
    for _ in range(2):
        builder.child(a_child(seconds=10.0).counter("env_steps", 50))
    found = throughput(builder)
    assert found.env_steps == 100
    assert found.sps == pytest.approx(10.0)


def test_steps_counted_by_the_trainer_and_by_its_workers_count_once() -> None:
    builder = a_recording(seconds=10.0).counter("env_steps", 100)
    for _ in range(2):
        builder.child(a_child(seconds=10.0).counter("env_steps", 50))
    assert throughput(builder).env_steps == 100


def test_updates_are_put_in_proportion_to_env_steps() -> None:
    found = throughput(a_recording(seconds=10.0).counter("env_steps", 1000).counter("updates", 250))
    assert found.updates_per_env_step == pytest.approx(0.25)


def test_start_up_and_warm_up_do_not_count_as_steady() -> None:
    slices = [(20.0 + s, 21.0 + s, 10.0 if s < 3 else 100.0) for s in range(40)]
    found = throughput(a_recording(seconds=60.0).counter_slices("env_steps", slices))
    assert found.sps_steady == pytest.approx(100.0)
    assert found.sps == pytest.approx((30 + 3700) / 60)


def test_too_short_a_run_has_no_steady_rate() -> None:
    assert throughput(a_recording(seconds=5.0).counter("env_steps", 1000)).sps_steady is None


def test_a_pause_does_not_lower_the_steady_rate() -> None:
    slices = [(float(s), s + 1.0, 0.0 if 50 <= s < 58 else 100.0) for s in range(100)]
    found = throughput(a_recording(seconds=100.0).counter_slices("env_steps", slices))
    assert found.sps_steady == pytest.approx(100.0)


def test_steps_in_bursts_are_averaged_over_whole_iterations() -> None:
    # 3 s of collecting, then 7 s of training: most seconds have no step at all.
    slices = [(10.0 * turn + s, 10.0 * turn + s + 1.0, 1000.0) for turn in range(10) for s in range(3)]
    builder = a_recording(seconds=100.0).counter_slices("env_steps", slices)
    builder.iterations([10.0] * 10, env_steps=3000)
    assert throughput(builder).sps_steady == pytest.approx(300.0)
    assert throughput(builder).iterations == 10


def test_steps_in_bursts_without_iterations_widen_the_windows() -> None:
    slices = [(4.0 * turn, 4.0 * turn + 1.0, 400.0) for turn in range(50)]
    found = throughput(a_recording(seconds=200.0).counter_slices("env_steps", slices))
    assert found.sps_steady == pytest.approx(100.0, rel=0.05)


def test_an_hour_has_one_window_per_second_and_longer_runs_have_no_more() -> None:
    hour = throughput(a_recording(seconds=3600.0).counter("env_steps", 3600))
    day = throughput(a_recording(seconds=86_400.0).counter_slices("env_steps", [(0.0, 86_400.0, 86_400.0)]))
    assert len(hour.windows) == 3600
    assert len(day.windows) == 3600
    assert day.windows[1].t == pytest.approx(24.0)
    assert day.windows[-1].sps == pytest.approx(1.0)


def test_the_last_window_is_never_a_sliver() -> None:
    found = throughput(a_recording(seconds=10.01).counter("env_steps", 1001))
    assert len(found.windows) == 10
    assert [window.sps for window in found.windows] == pytest.approx([100.0] * 10)


SLICES = st.lists(
    st.tuples(st.integers(-2_000, 12_000), st.integers(0, 9_000), st.floats(0.001, 1e6)), min_size=1, max_size=30
)


def _slices(rows: list[tuple[int, int, float]]) -> Slices:
    start = np.array([row[0] for row in rows], np.int64)
    return Slices(start, start + np.array([row[1] for row in rows], np.int64), np.array([row[2] for row in rows]))


@given(SLICES, st.integers(100, 3_000))
def test_what_lies_on_the_grid_is_neither_lost_nor_doubled(rows: list[tuple[int, int, float]], cell: int) -> None:
    slices = _slices(rows)
    amounts, edges = spread(slices, 0, 10_000, cell)
    length = np.maximum(slices.end_ns - slices.start_ns, 1)
    inside = np.clip(slices.start_ns + length, 0, 10_000) - np.clip(slices.start_ns, 0, 10_000)
    assert float(amounts.sum()) == pytest.approx(float((slices.amount * inside / length).sum()), rel=1e-6, abs=1e-6)
    assert amounts.min() >= 0
    assert (np.diff(edges) > 0).all()
    assert edges[-1] == 10_000


@given(SLICES, st.integers(100, 3_000))
def test_each_cell_gets_the_overlap_of_each_slice(rows: list[tuple[int, int, float]], cell: int) -> None:
    slices = _slices(rows)
    amounts, edges = spread(slices, 0, 10_000, cell)
    for index in range(len(amounts)):
        expected = 0.0
        for start, length, amount in rows:
            overlap = min(start + max(length, 1), int(edges[index + 1])) - max(start, int(edges[index]))
            expected += amount * max(overlap, 0) / max(length, 1)
        assert float(amounts[index]) == pytest.approx(expected, rel=1e-6, abs=1e-3)
