"""Packed columns, the writer's side: many rows in one blob, a column after the other, compressed.

Whole numbers that only grow are stored as differences, because small numbers compress well.

Only the standard library is used here: this runs inside the recorded program, which may want to settle how many threads
NumPy gets before it is the first to import it.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from operator import sub
from typing import Any, Final, NamedTuple

#: A table: columns of numbers by name. NumPy's arrays will do as well.
Columns = Mapping[str, Any]


class Column(NamedTuple):
    name: str
    stored: str  # NumPy's name of the type on disk
    steps: bool = False  # stored as differences from row to row


WINDOWS: Final = (
    Column("start_ns", "<i8", steps=True),
    Column("end_ns", "<i8", steps=True),
    Column("path", "<u4"),
    Column("count", "<u4"),
    Column("total_ns", "<i8"),
    Column("self_ns", "<i8"),
    Column("charged_ns", "<i8"),
    Column("min_ns", "<i8"),
    Column("max_ns", "<i8"),
)
COUNTERS: Final = (
    Column("start_ns", "<i8", steps=True),
    Column("end_ns", "<i8", steps=True),
    Column("counter", "<u4"),
    Column("amount", "<f8"),
    Column("calls", "<u4"),
)
ITERATIONS: Final = (
    Column("start_ns", "<i8", steps=True),
    Column("duration_ns", "<i8"),
    Column("env_steps", "<f8"),
)
MEMORY: Final = (
    Column("at_ns", "<i8", steps=True),
    Column("rss_bytes", "<i8", steps=True),
    Column("device_bytes", "<i8", steps=True),
)
EVENTS: Final = (
    Column("path", "<u2"),
    Column("start_ns", "<i8", steps=True),
    Column("duration_ns", "<i8"),
)
SAMPLES: Final = (
    Column("path", "<u4"),
    Column("frame", "<u4"),
    Column("count", "<u4"),
)
SAMPLE_SLICES: Final = (
    Column("end_ns", "<i8", steps=True),
    Column("rows", "<u4"),
)
STRETCHES: Final = (
    Column("what", "<u1"),
    Column("env", "<u1"),
    Column("start_ns", "<i8", steps=True),
    Column("duration_ns", "<i8"),
)

KINDS: Final[Mapping[str, tuple[Column, ...]]] = {
    "windows": WINDOWS,
    "counters": COUNTERS,
    "iterations": ITERATIONS,
    "memory": MEMORY,
    "events": EVENTS,
    "samples": SAMPLES,
    "sample_slices": SAMPLE_SLICES,
    "stretches": STRETCHES,
}

#: Added to the window's size: gzip's frame, for its CRC. The checksum of zlib's own frame misses some single flipped
#: bits in tables like these.
GZIP: Final = 16
#: A quarter of a megabyte is set up for the usual window and thrown away again. What a flush brings is smaller than
#: this most of the time; with a small window it takes a sixth of the time and not a byte more.
SMALL_BYTES: Final = 4096
SMALL: Final = (GZIP + 12, 4)  # the window's size as a power of two, and the memory spent on finding repetitions
USUAL: Final = (GZIP + 15, 8)

GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, any system
LONGEST_STORED: Final = 0xFFFF  # bytes of a block that is not compressed

_CODES: Final = {"<i8": "q", "<u8": "Q", "<u4": "I", "<u2": "H", "<u1": "B", "<f8": "d"}
_TURN: Final = 1 << 64


def pack(columns: Columns, layout: tuple[Column, ...]) -> bytes:
    """Rows to a blob."""
    raw = _planes(columns, layout)
    deflate = zlib.compressobj(1, zlib.DEFLATED, *(SMALL if len(raw) <= SMALL_BYTES else USUAL))
    return deflate.compress(raw) + deflate.flush()


def pack_for_now(columns: Columns, layout: tuple[Column, ...]) -> bytes:
    """The same for rows that will soon be packed together with others: to a reader no different, but not compressed."""
    raw = _planes(columns, layout)
    return _uncompressed(raw) if len(raw) <= LONGEST_STORED else pack(columns, layout)


def _uncompressed(raw: bytes) -> bytes:
    """A frame of gzip with one block that is stored as it is."""
    size = len(raw)
    block = b"\x01" + size.to_bytes(2, "little") + (size ^ LONGEST_STORED).to_bytes(2, "little")
    return GZIP_HEAD + block + raw + zlib.crc32(raw).to_bytes(4, "little") + size.to_bytes(4, "little")


def _planes(columns: Columns, layout: tuple[Column, ...]) -> bytes:
    """Each column is split into byte planes: the high bytes of small numbers are runs of zeros."""
    planes = []
    for column in layout:
        stored = _stored(columns[column.name], column)
        width = stored.itemsize
        raw = stored.tobytes()
        planes += [raw[plane::width] for plane in range(width)]
    return b"".join(planes)


def _stored(values: Any, column: Column) -> array[Any]:
    numbers = _as_list(values)
    code = _CODES[column.stored]
    if not column.steps:
        stored = array(code, numbers)
    else:
        steps = list(map(sub, numbers, [0, *numbers[:-1]]))
        try:
            stored = array(code, steps)
        except OverflowError:  # differences wrap around in 64 bits, and wrap back when they are summed up
            stored = array(code, [(step + _TURN // 2) % _TURN - _TURN // 2 for step in steps])
    if sys.byteorder == "big":
        stored.byteswap()
    return stored


def _as_list(values: Any) -> list[Any]:
    """Plain numbers, also of a NumPy array, whose own would wrap around too early."""
    return values.tolist() if hasattr(values, "tolist") else list(values)


def join_rows(tables: Sequence[Columns], layout: tuple[Column, ...]) -> dict[str, list[Any]]:
    """Several tables of one layout as one, in order."""
    joined: dict[str, list[Any]] = {column.name: [] for column in layout}
    for table in tables:
        for name, column in joined.items():
            column.extend(_as_list(table[name]))
    return joined


def pack_histogram(histogram: Mapping[int, int]) -> bytes:
    """A histogram to its filled buckets and their counts; not compressed, because it is short."""
    filled = [bucket for bucket in sorted(histogram) if histogram[bucket]]
    counts = array("Q", [histogram[bucket] for bucket in filled])
    if sys.byteorder == "big":
        counts.byteswap()
    return bytes(filled) + counts.tobytes()
