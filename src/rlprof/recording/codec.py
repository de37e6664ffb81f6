"""Packed columns, the reader's side. Reading is bounded: a blob never unpacks to more than its rows allow."""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rlprof.model.errors import NotARecording
from rlprof.model.histogram import BUCKETS
from rlprof.recording.columns import GZIP, Column

MAX_ROWS: Final = 4_000_000  # of one chunk: far above what a writer or a merge puts into one
MAX_TABLE_ROWS: Final = 50_000_000  # of all chunks of one kind: a made-up file must not fill the reader's memory


def unpack(blob: Any, rows: Any, layout: tuple[Column, ...]) -> dict[str, NDArray[Any]]:
    """A blob back to rows; raises NotARecording when it does not hold exactly that many."""
    if not isinstance(rows, int) or not isinstance(blob, bytes):  # a database holds anything in any column
        raise NotARecording("a chunk is damaged: it is no packed table")
    if not 0 <= rows <= MAX_ROWS:
        raise NotARecording(f"a chunk claims {rows} rows")
    width = sum(np.dtype(column.stored).itemsize for column in layout)
    inflate = zlib.decompressobj(GZIP + 15)
    try:
        raw = inflate.decompress(blob, rows * width + 1)
    except zlib.error as error:
        raise NotARecording(f"a chunk is damaged: {error}") from None
    if len(raw) != rows * width:
        raise NotARecording(f"a chunk of {rows} rows has {len(raw)} bytes instead of {rows * width}")
    if not inflate.eof or inflate.unused_data:  # without its end its checksum was not looked at
        raise NotARecording(f"a chunk of {rows} rows is cut short or has something behind it")
    return _split(raw, rows, layout)


def _split(raw: bytes, rows: int, layout: tuple[Column, ...]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    at = 0
    for column in layout:
        dtype = np.dtype(column.stored)
        size = rows * dtype.itemsize
        planes = np.frombuffer(raw, dtype=np.uint8, count=size, offset=at).reshape(dtype.itemsize, rows)
        values = np.ascontiguousarray(planes.T).view(dtype).reshape(rows)
        at += size
        if column.steps:
            values = np.cumsum(values, dtype=np.int64)
        if dtype.kind == "f" and not np.isfinite(values).all():
            raise NotARecording(f"a chunk is damaged: {column.name} is no number")
        columns[column.name] = values.astype(np.float64 if dtype.kind == "f" else np.int64)
    return columns


def join(tables: list[dict[str, NDArray[Any]]], layout: tuple[Column, ...]) -> dict[str, NDArray[Any]]:
    """Several tables of one layout as one, in order."""
    if not tables:
        return {
            column.name: np.zeros(0, np.float64 if np.dtype(column.stored).kind == "f" else np.int64)
            for column in layout
        }
    return {column.name: np.concatenate([table[column.name] for table in tables]) for column in layout}


def unpack_histogram(blob: Any) -> dict[int, int]:
    """Pairs back to a histogram; raises NotARecording for what a writer never writes."""
    if not isinstance(blob, bytes) or len(blob) % 9:
        raise NotARecording("a histogram is damaged")
    n = len(blob) // 9
    buckets = np.frombuffer(blob, "<u1", count=n).tolist()
    counts = np.frombuffer(blob, "<u8", count=n, offset=n).tolist()
    if buckets != sorted(set(buckets)) or (buckets and buckets[-1] >= BUCKETS) or 0 in counts:
        raise NotARecording("a histogram is damaged")
    return dict(zip(buckets, counts, strict=True))
