"""Exact peaks of nested spans, of memory and of a device, from one high-water mark each."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof import _core
from rlprof.record import device as device_module
from rlprof.record.device import DevicePeak, allocated_bytes, allocator, describe_device
from rlprof.record.memory import MemorySpan, PeakReader, PeakTracker, RssReader
from support import dtypes
from support.reference import a_clean_core, path_keys, switch_on


@dataclass
class Tank:
    """Stands for a system, or a device, that keeps a high-water mark."""

    level: int = 100_000
    mark: int = 100_000
    exact: bool = True
    refuses: bool = False

    def fill(self, amount: int) -> None:
        self.level += amount
        self.mark = max(self.mark, self.level)

    # As a PeakReader:
    def peak(self) -> int:
        if self.refuses:
            raise OSError("refused")
        return self.mark

    def current(self) -> int:
        return self.level

    def restart(self) -> None:
        self.mark = self.level

    # As torch.cuda:
    def is_initialized(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def get_device_name(self, device: int) -> str:
        return f"Tank {device}"

    memory_allocated = current
    max_memory_allocated = peak
    reset_peak_memory_stats = restart


def fail(error: Exception) -> None:
    raise AssertionError(error)


def a_tracker(tank: Tank) -> PeakTracker:
    return PeakTracker(tank, fail)  # type: ignore[arg-type]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.just(0)),
        st.tuples(st.just("leave"), st.integers(0, 5)),
        st.tuples(st.just("fill"), st.integers(-400, 500)),
    ),
    max_size=40,
)


@given(STEPS)
def test_a_stretch_has_the_highest_level_between_its_entry_and_its_end(steps: list[tuple[str, int]]) -> None:
    tank = Tank()
    tracker = a_tracker(tank)
    opened: list[tuple[Any, int, list[int]]] = []
    for step, number in [*steps, *[("leave", 0)] * len(steps)]:
        if step == "enter":
            opened.append((tracker.enter(), tank.level, [tank.level]))
        elif step == "fill":
            tank.fill(number)
            for _, _, levels in opened:
                levels.append(tank.level)
        elif opened:
            stretch, start, levels = opened.pop(number % len(opened))
            assert tracker.leave(stretch) == (max(levels), max(levels) - start, -1)


@given(STEPS)
def test_a_device_s_peaks_are_right_in_any_order_of_ends(steps: list[tuple[str, int]]) -> None:
    tank = Tank()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", SimpleNamespace(cuda=tank))
        peak = DevicePeak()
        opened: list[tuple[list[int], int, list[int]]] = []
        for step, number in [*steps, *[("leave", 0)] * len(steps)]:
            if step == "enter":
                opened.append((peak.enter(), tank.level, [tank.level]))
            elif step == "fill":
                tank.fill(number)
                for _, _, levels in opened:
                    levels.append(tank.level)
            elif opened:
                entry, start, levels = opened.pop(number % len(opened))
                assert peak.leave(entry) == max(levels) - start


def test_a_system_that_refuses_is_told_once_and_asked_no_more() -> None:
    tank, told = Tank(), []
    tracker = PeakTracker(tank, told.append)  # type: ignore[arg-type]
    stretch = tracker.enter()
    tank.refuses = True
    assert stretch is not None
    assert tracker.leave(stretch) is None
    assert tracker.enter() is None
    assert [str(error) for error in told] == ["refused"]


# --- devices ----------------------------------------------------------------------------------------------------------


def test_without_torch_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert allocator() is None
    assert allocated_bytes() is None
    assert describe_device() is None
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    "torch",
    [
        SimpleNamespace(),
        SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: False)),
        SimpleNamespace(cuda=SimpleNamespace()),
    ],
    ids=["half imported", "not in use", "without a device"],
)
def test_a_device_that_is_not_in_use_is_none(monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert allocator() is None
    peak = DevicePeak()
    assert peak.leave(peak.enter()) is None


def test_a_device_in_use_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=Tank(level=77)))
    assert describe_device() == "Tank 0"
    assert allocated_bytes() == 77


def test_a_device_that_comes_into_use_in_the_middle_is_not_counted_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tank = Tank()
    peak = DevicePeak()
    outer = peak.enter()
    monkeypatch.setattr(device_module, "allocator", lambda: tank)
    inner = peak.enter()
    tank.fill(50)
    assert peak.leave(inner) == 50
    assert peak.leave(outer) is None


# --- spans ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tank() -> Iterator[Tank]:
    tank = Tank()
    tracker = a_tracker(tank)
    with a_clean_core(memory_span=lambda name, phase: MemorySpan(tracker, name, phase)):
        switch_on()
        yield tank


def exact_figures() -> dict[str, tuple[int, int, int]]:
    names = {number: "/".join(label[0] for label in labels) for number, (_, labels) in path_keys().items()}
    rows = np.frombuffer(_core.drain()[1], dtypes.ROW)
    return {
        names[int(row["path"])]: (int(row["count"]), int(row["rss_peak"]), int(row["rss_rise"]))
        for row in rows
        if row["exact"]
    }


def test_nested_spans_have_peaks_of_their_own(tank: Tank) -> None:
    with _core.profile("outer", track_memory=True):
        tank.fill(300)
        tank.fill(-250)
        with _core.profile("inner", track_memory=True):
            tank.fill(100)
            tank.fill(-100)
        tank.fill(10)
    assert exact_figures() == {"outer": (1, 100_300, 300), "outer/inner": (1, 100_150, 100)}


def test_a_span_may_be_entered_again_inside_itself(tank: Tank) -> None:
    span = _core.profile("a", track_memory=True)
    with span:
        tank.fill(5)
        with span:
            tank.fill(20)
    assert exact_figures() == {"a": (1, 100_025, 25), "a/a": (1, 100_025, 20)}


def test_an_exception_passes_through_a_tracked_span(tank: Tank) -> None:
    def work() -> None:
        with _core.profile("a", track_memory=True):
            tank.fill(7)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert exact_figures() == {"a": (1, 100_007, 7)}


def test_an_exit_too_many_does_no_harm(tank: Tank) -> None:
    span = _core.profile("a", track_memory=True)
    with span:
        pass
    span.__exit__(None, None, None)
    assert _core.drain()[6]["exits_unmatched"] == 1


def test_spans_of_several_threads_share_the_mark(tank: Tank) -> None:
    entered, filled = threading.Event(), threading.Event()

    def work() -> None:
        with _core.profile("there", track_memory=True):
            entered.set()
            filled.wait()

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    with _core.profile("here", track_memory=True):
        tank.fill(60)
    filled.set()
    thread.join()
    assert exact_figures() == {"here": (1, 100_060, 60), "there": (1, 100_060, 60)}


# --- the real system --------------------------------------------------------------------------------------------------


def test_the_resident_size_of_this_process_is_read() -> None:
    reader = RssReader()
    assert 1_000_000 < reader.read() < 1 << 40
    reader.close()
    reader.close()


def test_without_proc_the_resident_size_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", refuse)
    reader = RssReader()
    monkeypatch.undo()
    assert reader.read() > 1_000_000
    reader.close()


def test_the_kernel_s_mark_sees_a_block_that_came_and_went() -> None:
    reader = PeakReader()
    if not reader.exact:
        pytest.skip("this system keeps no mark that can be reset")
    reader.restart()
    before = reader.current()
    block = bytearray(os.urandom(1)) * (64 << 20)
    del block
    assert reader.peak() - before > 48 << 20
    reader.restart()
    assert reader.peak() - before < 48 << 20
