"""Packed columns come back as they went in, and damage never gets past them."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlprof.model.errors import NotARecording
from rlprof.model.histogram import BUCKETS
from rlprof.recording import codec, columns
from rlprof.recording.codec import unpack, unpack_histogram
from rlprof.recording.columns import KINDS, Column, pack, pack_for_now, pack_histogram


def values_of(column: Column) -> st.SearchStrategy[float]:
    dtype = np.dtype(column.stored)
    if dtype.kind == "f":
        return st.floats(allow_nan=False, allow_infinity=False)
    bounds = np.iinfo(dtype)
    # Differences are taken in 64 bits, and wrap around on both ways alike. Readers get signed 64-bit numbers.
    return st.integers(int(bounds.min), min(int(bounds.max), (1 << 63) - 1))


@st.composite
def tables(draw: st.DrawFn, kind: str) -> dict[str, list[float]]:
    layout = KINDS[kind]
    rows = draw(st.integers(0, 40))
    return {column.name: draw(st.lists(values_of(column), min_size=rows, max_size=rows)) for column in layout}


def arrays(table: dict[str, list[float]], layout: tuple[Column, ...]) -> dict[str, Any]:
    return {
        column.name: np.array(table[column.name], np.float64 if "f" in column.stored else np.int64) for column in layout
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_table_comes_back_as_it_was(kind: str, data: st.DataObject) -> None:
    layout = KINDS[kind]
    table = data.draw(tables(kind))
    rows = len(table[layout[0].name])
    for packed in (pack(arrays(table, layout), layout), pack_for_now(arrays(table, layout), layout)):
        found = unpack(packed, rows, layout)
        assert {name: column.tolist() for name, column in found.items()} == table


def test_a_table_too_long_for_one_block_is_packed_for_now_all_the_same() -> None:
    table = {c.name: np.arange(5000) % 7 for c in columns.EVENTS}
    found = unpack(pack_for_now(table, columns.EVENTS), 5000, columns.EVENTS)
    assert all(np.array_equal(found[name], table[name]) for name in table)


def a_blob(rows: int = 20, packing: Callable[..., bytes] = pack) -> bytes:
    rng = np.random.default_rng(1)
    return packing({c.name: rng.integers(0, 1000, rows) for c in columns.EVENTS}, columns.EVENTS)


@pytest.mark.parametrize("packing", [pack, pack_for_now])
def test_a_flipped_bit_never_changes_a_number(packing: Callable[..., bytes]) -> None:
    blob = a_blob(packing=packing)
    intact = unpack(blob, 20, columns.EVENTS)
    for at in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[at // 8] ^= 1 << at % 8
        # The frame has a few bits (the time and the system of its making) that say nothing about the data.
        try:
            found = unpack(bytes(flipped), 20, columns.EVENTS)
        except NotARecording:
            continue
        assert all(np.array_equal(found[name], intact[name]) for name in intact)


@given(st.integers(0, 10_000))
def test_a_blob_that_was_cut_short_is_refused(at: int) -> None:
    blob = a_blob()
    with pytest.raises(NotARecording):
        unpack(blob[: at % len(blob)], 20, columns.EVENTS)


@given(st.binary(min_size=1, max_size=50))
def test_something_behind_the_data_is_refused(rest: bytes) -> None:
    with pytest.raises(NotARecording):
        unpack(a_blob() + rest, 20, columns.EVENTS)


@given(st.binary(max_size=200), st.integers(-5, 50))
def test_any_other_bytes_are_refused(blob: bytes, rows: int) -> None:
    with pytest.raises(NotARecording):
        unpack(blob, rows, columns.EVENTS)


@pytest.mark.parametrize("rows", [-1, 19, 21, codec.MAX_ROWS + 1, 1 << 70, None, "20", 20.0])
def test_a_wrong_number_of_rows_is_refused(rows: Any) -> None:
    with pytest.raises(NotARecording):
        unpack(a_blob(), rows, columns.EVENTS)


@pytest.mark.parametrize("blob", [None, "text", 3, 2.5])
def test_what_is_no_blob_is_refused(blob: Any) -> None:
    with pytest.raises(NotARecording):
        unpack(blob, 1, columns.EVENTS)
    with pytest.raises(NotARecording):
        unpack_histogram(blob)


def test_a_blob_never_unpacks_to_more_than_its_rows_allow() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(NotARecording, match="bytes instead of"):
            unpack(bomb, 10, columns.EVENTS)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("amount", [float("nan"), float("inf")])
def test_a_column_that_holds_no_number_is_refused(amount: float) -> None:
    table = {"start_ns": np.array([1]), "duration_ns": np.array([2]), "env_steps": np.array([amount])}
    with pytest.raises(NotARecording, match="env_steps is no number"):
        unpack(pack(table, columns.ITERATIONS), 1, columns.ITERATIONS)


@given(st.lists(st.integers(0, 30), max_size=5))
def test_joined_tables_are_their_rows_one_after_the_other(sizes: list[int]) -> None:
    made = [{c.name: np.arange(size) for c in columns.SAMPLES} for size in sizes]
    joined = codec.join(made, columns.SAMPLES)
    assert joined["path"].tolist() == [number for size in sizes for number in range(size)]


# --- histograms -------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.integers(0, BUCKETS - 1), st.integers(1, (1 << 64) - 1)))
def test_a_histogram_comes_back_as_it_was(histogram: dict[int, int]) -> None:
    assert unpack_histogram(pack_histogram(histogram)) == histogram


@pytest.mark.parametrize(
    "blob",
    [
        b"\x01",
        bytes([BUCKETS]) + struct.pack("<Q", 1),
        bytes([3, 3]) + struct.pack("<QQ", 1, 1),
        bytes([4, 3]) + struct.pack("<QQ", 1, 1),
        bytes([4]) + struct.pack("<Q", 0),
    ],
    ids=["odd size", "no such bucket", "a bucket twice", "out of order", "an empty bucket"],
)
def test_a_damaged_histogram_is_refused(blob: bytes) -> None:
    with pytest.raises(NotARecording, match="histogram"):
        unpack_histogram(blob)
