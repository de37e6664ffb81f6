"""Running totals: adding in pieces is adding at once."""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rlprof._core import PathTotals
from rlprof.record.layout import BIN, NEVER, ROW, Layout
from rlprof.recording.codec import unpack_histogram

Window = dict[int, dict[str, Any]]  # by path

SMALL = st.integers(0, 1 << 40)


@st.composite
def stats(draw: st.DrawFn) -> dict[str, Any]:
    """One path in one window, as the core would hand it over."""
    durations = draw(st.lists(SMALL, max_size=4))
    untimed = draw(st.integers(0, 1000)) if durations else 0
    exact = draw(st.integers(0, 1))
    peak = draw(SMALL) if exact or draw(st.booleans()) else 0
    return {
        "count": len(durations) + untimed,
        "untimed": untimed,
        "total": sum(durations),
        "own": draw(SMALL),
        "shortest": min(durations, default=NEVER),
        "longest": max(durations, default=0),
        "charged": draw(SMALL),
        "exact": exact,
        "rss_peak": peak,
        "rss_rise": draw(SMALL) if peak else 0,
        "device_rise": draw(SMALL) if exact else 0,
        "bins": draw(st.dictionaries(st.integers(0, 149), st.integers(1, 1000), max_size=3)) if durations else {},
    }


WINDOWS = st.lists(st.dictionaries(st.integers(0, 40), stats(), max_size=5), max_size=5)


def add(totals: PathTotals, window: Window) -> None:
    rows: dict[str, list[int]] = {name: [] for name in ROW.fields}
    bins: dict[str, list[int]] = {name: [] for name in BIN.fields}
    for number, (path, values) in enumerate(window.items()):
        for name, column in rows.items():
            column.append(path if name == "path" else values[name])
        for bucket, count in values["bins"].items():
            for name, value in (("row", number), ("bucket", bucket), ("count", count)):
                bins[name].append(value)
    totals.add(packed(ROW, rows), packed(BIN, bins))


def packed(layout: Layout, columns: dict[str, list[int]]) -> bytes:
    form = "=" + "".join(code for code, _ in layout.fields.values())
    return b"".join(struct.pack(form, *record) for record in zip(*columns.values(), strict=True))


def in_one(windows: list[Window]) -> Window:
    whole: Window = {}
    for window in windows:
        for path, values in window.items():
            if path not in whole:
                whole[path] = {**values, "bins": dict(values["bins"])}
                continue
            kept = whole[path]
            for name in ("count", "untimed", "total", "own", "charged"):
                kept[name] += values[name]
            for name in ("longest", "exact", "rss_peak", "rss_rise", "device_rise"):
                kept[name] = max(kept[name], values[name])
            kept["shortest"] = min(kept["shortest"], values["shortest"])
            for bucket, count in values["bins"].items():
                kept["bins"][bucket] = kept["bins"].get(bucket, 0) + count
    return whole


@given(WINDOWS)
def test_windows_added_one_by_one_are_the_same_as_all_at_once(windows: list[Window]) -> None:
    one_by_one, at_once = PathTotals(), PathTotals()
    for window in windows:
        add(one_by_one, window)
    add(at_once, in_one(windows))
    assert one_by_one.changed_rows() == at_once.changed_rows()
    assert one_by_one.spans == at_once.spans == sum(v["count"] for window in windows for v in window.values())


@given(WINDOWS)
def test_each_row_holds_the_figures_of_its_path(windows: list[Window]) -> None:
    totals = PathTotals()
    for window in windows:
        add(totals, window)
    expected = in_one(windows)
    rows = {row[0]: row for row in totals.changed_rows()}
    assert set(rows) == set(expected)
    for path, values in expected.items():
        _, count, total, own, shortest, longest, charged, peak, rise, exact, device, histogram, untimed = rows[path]
        seen = values["rss_peak"] > 0 or values["exact"]
        assert (count, untimed, total, own, charged, exact) == tuple(
            values[name] for name in ("count", "untimed", "total", "own", "charged", "exact")
        )
        assert shortest == (values["shortest"] if count else None)
        assert longest == (values["longest"] if count else None)
        assert peak == (values["rss_peak"] if seen else None)
        assert rise == (values["rss_rise"] if seen else None)
        assert device == (values["device_rise"] - 1 if values["device_rise"] else None)
        assert unpack_histogram(histogram) == values["bins"]


@given(WINDOWS, WINDOWS)
def test_only_what_changed_since_it_was_written_is_written_again(before: list[Window], after: list[Window]) -> None:
    totals = PathTotals()
    for window in before:
        add(totals, window)
    totals.settle()
    assert totals.changed_rows() == []
    for window in after:
        add(totals, window)
    assert [row[0] for row in totals.changed_rows()] == sorted({path for window in after for path in window})
