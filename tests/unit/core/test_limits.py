"""Whatever a program does, the recorder's memory stays bounded and what it leaves out is counted."""

from __future__ import annotations

import math
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest

from rlprof import _core
from rlprof.record.memory import RssReader
from support import dtypes
from support.alone import run_alone
from support.reference import Stats, Window, a_clean_core, read_window, switch_on

MAX_PATHS = 4096
MAX_LANES = 64
MAX_DEPTH = 128
MAX_TURNS = 4096
CHUNK = 32768
MAX_CHUNKS = 8
FLIGHT = 16384


def spend(nanoseconds: int) -> None:
    _core.set_fake_clock(_core.clock_ns() + nanoseconds)


def depths() -> list[int]:
    above: dict[int, int] = {}
    for number, parent, *_ in _core.paths_since(0):
        above[number] = 0 if parent is None else above[parent] + 1
    return list(above.values())


def sum_of_own(window: Window) -> int:
    return sum(stats.own for stats in window.rows.values())


def sum_of_counts(window: Window) -> int:
    return sum(stats.count for stats in window.rows.values())


def nested(levels: int, innermost: Any = None) -> None:
    with _core.profile("deep"):
        spend(1)
        if levels > 1:
            nested(levels - 1, innermost)
        elif innermost is not None:
            innermost()


def test_paths_beyond_the_limit_are_booked_together_and_no_time_is_lost() -> None:
    names = [f"n{number}" for number in range(17)]
    with a_clean_core():
        switch_on()
        for one, two, three in product(names, repeat=3):
            with _core.profile(one), _core.profile(two), _core.profile(three):
                spend(3)
        window = read_window()
        paths = _core.paths_since(0)
    more = [stats for (_, labels), stats in window.rows.items() if labels and labels[-1][0] == "(more paths)"]
    assert len(paths) <= MAX_PATHS
    assert len(more) == 1
    assert more[0].count > 0
    assert sum_of_own(window) == 3 * 17**3
    assert sum_of_counts(window) == window.totals["spans_emitted"] == 3 * 17**3


def test_a_thread_that_begins_when_paths_ran_out_still_records() -> None:
    names = [f"n{number}" for number in range(17)]
    with a_clean_core():
        switch_on()
        for one, two, three in product(names, repeat=3):
            with _core.profile(one), _core.profile(two), _core.profile(three):
                pass
        read_window()
        thread = threading.Thread(target=lambda: nested(3))
        thread.start()
        thread.join()
        window = read_window()
    assert {lane: stats.count for (lane, labels), stats in window.rows.items() if labels} == {1: 3}


def test_threads_beyond_the_limit_share_one_tree() -> None:
    with a_clean_core():
        switch_on()
        for _ in range(MAX_LANES + 10):
            thread = threading.Thread(target=lambda: nested(1))
            thread.start()
            thread.join()
        window = read_window()
        lanes = _core.lanes_since(0)
    assert len(lanes) == MAX_LANES
    assert [shared for _, _, shared, _ in lanes] == [False] * (MAX_LANES - 1) + [True]
    assert sum_of_counts(window) == MAX_LANES + 10
    assert sum(stats.count for (lane, _), stats in window.rows.items() if lane == MAX_LANES - 1) == 12


def test_spans_beyond_the_depth_limit_count_as_calls_of_the_one_they_are_in() -> None:
    with a_clean_core():
        switch_on()
        nested(MAX_DEPTH + 72)
        window = read_window()
        deepest = max(depths())
    innermost = next(stats for (_, labels), stats in window.rows.items() if len(labels) == MAX_DEPTH)
    assert deepest == MAX_DEPTH
    assert window.totals["spans_folded"] == 72
    assert innermost.count == 73
    assert innermost.own == innermost.total == 73
    assert sum_of_own(window) == MAX_DEPTH + 72
    assert sum_of_counts(window) == window.totals["spans_emitted"] == MAX_DEPTH + 72


def test_folded_spans_that_are_open_are_not_listed() -> None:
    with a_clean_core():
        switch_on()
        seen: list[Window] = []
        nested(MAX_DEPTH + 5, lambda: seen.append(read_window()))
    assert len(seen[0].open_spans) == MAX_DEPTH


def test_the_minimum_of_a_path_with_folded_spans_does_not_depend_on_when_it_was_drained() -> None:
    def least(*, drained: bool) -> int:
        with a_clean_core():
            switch_on()
            nested(MAX_DEPTH)
            windows = [read_window()] if drained else []
            nested(MAX_DEPTH + 1)
            windows.append(read_window())
        rows = [stats for window in windows for (_, labels), stats in window.rows.items() if len(labels) == MAX_DEPTH]
        return min(stats.shortest for stats in rows if stats.count)

    assert least(drained=True) == least(drained=False)


def test_recursion_far_beyond_the_limit_leaves_nothing_open() -> None:
    with a_clean_core():
        switch_on()
        spans = [_core.profile("deep") for _ in range(20_000)]
        for span in spans:
            span.__enter__()
        for span in reversed(spans):
            span.__exit__(None, None, None)
        window = read_window()
    assert window.open_spans == []
    assert window.totals["spans_emitted"] == 20_000
    assert window.totals["spans_folded"] == 20_000 - MAX_DEPTH


def test_names_beyond_the_limit_share_one_name() -> None:
    done = run_alone(
        """
        from rlprof import _core
        _core.configure(phases=())
        _core.switch_on(1)
        for number in range(6000):
            with _core.profile(f"name {number}"):
                pass
        names = {name for _, _, _, name, _, _ in _core.paths_since(0)}
        totals = _core.drain()[6]
        assert len(names) < 4096, len(names)
        assert "(more paths)" in names
        assert totals["spans_emitted"] == 6000, totals
        """
    )
    assert done.returncode == 0, done.stderr


def test_a_thread_that_begins_when_names_and_paths_ran_out_does_no_harm() -> None:
    done = run_alone(
        """
        import threading
        from rlprof import _core
        _core.configure(phases=())
        _core.switch_on(1)
        for number in range(6000):
            with _core.profile(f"env {number % 2000}"), _core.profile(f"step {number}"):
                pass
        def work():
            with _core.profile("env 1"):
                pass
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert _core.drain()[6]["spans_emitted"] == 12001
        """
    )
    assert done.returncode == 0, done.stderr


# --- counters ---------------------------------------------------------------------------------------------------------


class Hostile:
    def __float__(self) -> float:
        raise RuntimeError("not a number")


@pytest.mark.parametrize(
    "amount",
    [math.nan, math.inf, -math.inf, "3", None, [1], Hostile(), 10**400, np.array([1.0, 2.0])],
    ids=lambda amount: type(amount).__name__,
)
def test_an_amount_that_is_no_finite_number_is_refused_and_counted(amount: Any) -> None:
    with a_clean_core():
        switch_on()
        _core.count("env_steps", 2)
        _core.count("env_steps", amount)
        window = read_window()
    assert window.counters == {"env_steps": (2.0, 1)}
    assert window.totals["amounts_refused"] == 1


@pytest.mark.parametrize("name", [None, 3, ["a"], b"env_steps"], ids=lambda name: type(name).__name__)
def test_a_counter_whose_name_is_no_text_is_refused_and_counted(name: Any) -> None:
    with a_clean_core():
        switch_on()
        _core.count(name)
        window = read_window()
    assert window.counters == {}
    assert window.totals["amounts_refused"] == 1


@pytest.mark.parametrize("amount", [True, 3, 2.5, np.int64(7), np.float32(0.5)], ids=lambda a: type(a).__name__)
def test_an_amount_may_be_any_kind_of_number(amount: Any) -> None:
    with a_clean_core():
        switch_on()
        _core.count("updates", amount)
        assert read_window().counters == {"updates": (float(amount), 1)}


def test_counters_beyond_the_limit_are_refused_and_the_known_ones_go_on() -> None:
    with a_clean_core():
        switch_on()
        for number in range(2000):
            _core.count(f"counter {number}")
        _core.count("counter 0", 4)
        window = read_window()
    assert len(window.counters) == 1023  # with env_steps, which has its place from the start, 1024
    assert window.counters["counter 0"] == (5.0, 2)
    assert window.totals["amounts_refused"] == 2000 - 1023


def test_a_sum_of_amounts_stays_finite() -> None:
    with a_clean_core():
        switch_on()
        _core.iteration()
        for _ in range(3):
            _core.count("env_steps", 1e308)
        _core.iteration()
        window = read_window()
    assert math.isfinite(window.counters["env_steps"][0])
    assert math.isfinite(window.turns[0][2])


# --- iterations and events --------------------------------------------------------------------------------------------


def test_iterations_beyond_the_list_are_counted_as_dropped() -> None:
    with a_clean_core():
        switch_on()
        for _ in range(MAX_TURNS + 101):
            _core.iteration()
            spend(5)
        first = read_window()
        _core.iteration()
        second = read_window()
    assert len(first.turns) == MAX_TURNS
    assert first.totals["iterations"] == MAX_TURNS + 100
    assert first.totals["iterations_dropped"] == 100
    assert [duration for _, duration, _ in second.turns] == [5]


@pytest.mark.parametrize("extra", [-1, 0, 1, 1000])
def test_events_are_handed_over_in_chunks_and_the_rest_is_counted_as_dropped(extra: int) -> None:
    room = CHUNK * (MAX_CHUNKS + 1)
    with a_clean_core(schedule=(0, 0, 1, 0)):
        switch_on()
        _core.iteration()
        span = _core.profile("a")
        for _ in range(room + extra):
            with span:
                pass
        chunks = _core.drain_events()
        totals = _core.drain()[6]
        with span:
            pass
        after = _core.drain_events()
    kept = sum(len(np.frombuffer(chunk, dtypes.EVENT)) for chunk in chunks)
    assert kept == min(room + extra, room)
    assert totals["events_emitted"] == room + extra
    assert totals["events_dropped"] == max(extra, 0)
    assert [len(np.frombuffer(chunk, dtypes.EVENT)) for chunk in after] == [1]


def slow_iterations() -> dict[int, tuple[int, int, int, np.ndarray[Any, Any]]]:
    """Duration, elided, elided below, events; by index, for those that are new."""
    fresh, _ = _core.drain_slow_iterations()
    return {
        index: (duration, elided, below, np.frombuffer(log, dtypes.EVENT))
        for index, _, duration, elided, below, log in fresh
    }


def turns(durations: list[int]) -> None:
    for duration in durations:
        with _core.iteration(), _core.profile("work"):
            spend(duration)


def test_the_flight_recorder_keeps_the_slowest_iterations() -> None:
    durations = [30, 10, 80, 20, 80, 70, 60, 5, 90, 1]
    with a_clean_core(keep_slowest=3):
        switch_on()
        turns(durations)
        slow = slow_iterations()
        _, kept = _core.drain_slow_iterations()
    assert {index: duration for index, (duration, *_) in slow.items()} == {2: 80, 4: 80, 8: 90}
    assert sorted(kept) == [2, 4, 8]


def test_a_slow_iteration_is_handed_over_once() -> None:
    with a_clean_core(keep_slowest=2):
        switch_on()
        turns([10, 20])
        assert set(slow_iterations()) == {0, 1}
        assert slow_iterations() == {}
        turns([15])
        assert set(slow_iterations()) == {2}


def test_a_slow_iteration_holds_all_its_spans_with_the_iteration_last() -> None:
    with a_clean_core(keep_slowest=1):
        switch_on()
        turns([10])
        names = {number: name for number, _, _, name, _, _ in _core.paths_since(0)}
        (_, elided, below, events) = slow_iterations()[0]
    assert [names[path] for path in events["path"]] == ["work", "iteration"]
    assert events["duration"].tolist() == [10, 10]
    assert (elided, below) == (0, 0)


def test_a_full_flight_recorder_leaves_out_the_shortest_spans_and_says_how_many() -> None:
    longest = [100_000 + number for number in range(500)]
    with a_clean_core(keep_slowest=1):
        switch_on()
        span = _core.profile("work")
        with _core.iteration():
            for number in range(40_000):
                with span:
                    spend(number % 400)
                if number % 80 == 0:
                    with span:
                        spend(longest[number // 80])
        duration, elided, below, events = slow_iterations()[0]
    assert len(events) <= FLIGHT
    assert len(events) + elided == 40_000 + 500 + 1
    assert events["duration"].min() >= below > 0
    assert set(longest) | {duration} <= set(events["duration"].tolist())


def test_spans_of_other_threads_do_not_crowd_the_flight_recorder() -> None:
    with a_clean_core(keep_slowest=1):
        switch_on()
        with _core.iteration():
            thread = threading.Thread(target=lambda: nested(2))
            thread.start()
            thread.join()
        _, _, _, events = slow_iterations()[0]
    assert len(events) == 1


# --- shapes and memory ------------------------------------------------------------------------------------------------


def test_records_have_the_sizes_that_their_readers_expect() -> None:
    sizes = _core.sizes()
    for name, dtype in (
        ("Row", dtypes.ROW),
        ("Bin", dtypes.BIN),
        ("OpenSpan", dtypes.OPEN_SPAN),
        ("Turn", dtypes.TURN),
        ("Event", dtypes.EVENT),
    ):
        assert sizes[name] == dtype.itemsize
    assert sizes["max_paths"] == MAX_PATHS


def test_resident_memory_stays_flat_over_half_a_million_spans() -> None:
    reader = RssReader()
    with a_clean_core(schedule=(0, 0, 1, 0), keep_slowest=5):
        switch_on()

        def work(rounds: int) -> None:
            for _ in range(rounds):
                _core.iteration()
                for name in ("a", "b", "c", "d", "e"):
                    with _core.profile(name), _core.profile("inner"):
                        spend(1)
                _core.drain()
                _core.drain_events()
                _core.drain_slow_iterations()

        work(2_000)
        before = reader.read()
        work(50_000)
        grown = reader.read() - before
    reader.close()
    assert grown < 2_000_000


def test_statistics_that_never_changed_are_not_handed_over() -> None:
    with a_clean_core():
        switch_on()
        nested(1)
        assert read_window().rows != {}
        assert read_window().rows == {}


def test_a_window_without_spans_of_a_path_has_no_histogram_of_it() -> None:
    with a_clean_core():
        switch_on()
        with _core.profile("a"):
            spend(10)
            row = next(stats for (_, labels), stats in read_window().rows.items() if labels)
            assert row == Stats(own=10)
