"""Operations by the names that a program gave them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rlprof.analyse.named_operations import NamedOperation, named_operations
from rlprof.analyse.report import build_report
from rlprof.render.named_operations import render_named_operations
from support.recordings import a_child, a_recording, span

MB = 10**6


def found(device_rise: int | None = None) -> tuple[NamedOperation, ...]:
    acting = span("network", span("network", count=3, self_seconds=1.0), count=3, self_seconds=3.0, rss_rise=3 * MB)
    learning = span("network", count=1, self_seconds=4.0, rss_rise=5 * MB, rss_exact=True, device_rise=device_rise)
    recording = a_recording(seconds=20).spans(span("drawing", self_seconds=2.0), span("acting", acting), learning)
    other = a_child(20).spans(span("drawing", count=9, self_seconds=9.0))
    return named_operations(build_report(recording.child(other).build()), ("network", "drawing", "never called"))


def drawn(operations: tuple[NamedOperation, ...]) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    render_named_operations(operations, console)
    return [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_name_has_one_row_wherever_it_ran_and_what_calls_itself_counts_once() -> None:
    network, drawing = found()
    assert (network.name, network.calls, network.total_seconds) == ("network", 4, pytest.approx(8.0))
    assert network.avg_seconds == pytest.approx(2.0)
    assert (network.min_seconds, network.max_seconds) == (pytest.approx(4 / 3), pytest.approx(4.0))
    assert (drawing.name, drawing.calls, drawing.total_seconds) == ("drawing", 1, pytest.approx(2.0))


def test_the_largest_peak_is_shown_and_is_exact_where_it_was_measured() -> None:
    network, drawing = found()
    assert (network.memory_peak_mb, network.memory_exact) == (pytest.approx(5.0), True)
    assert drawing.memory_peak_mb is None


def test_the_table_names_what_is_slow_and_has_a_device_only_where_there_is_one() -> None:
    rows = drawn(found())
    assert rows[1] == ["operation", "calls", "total", "avg", "min", "max", "memory"]
    assert rows[3][:10] == ["network", "4", "8.00", "s", "2.00", "s", "1.33", "s", "4.00", "s"]
    assert rows[3][10:] == ["5.00", "MB", "SLOW"]
    rows = drawn(found(device_rise=7 * MB))
    assert rows[1][-2:] == ["gpu", "mem"]
    assert rows[3][12:14] == ["7.00", "MB"]
