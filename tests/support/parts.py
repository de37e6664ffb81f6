"""Parts of recordings, written as a process would write them, and what a reader makes of them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlprof.model.histogram import BUCKETS
from rlprof.model.recording import Process, RecordedWarning, Recording
from rlprof.recording import columns
from rlprof.recording.columns import Column
from rlprof.recording.liveness import birth_mark
from rlprof.recording.place import PART_SUFFIX
from rlprof.recording.store import Batch, PartStore, SlowRow

DEAD_PID = 2**22 + 5  # above what Linux gives away


def process_row(uid: str = "11-aa", **changes: Any) -> dict[str, Any]:
    return {
        "uid": uid,
        "parent_uid": None,
        "pid": os.getpid(),
        "role": "main",
        "argv": ["python", "train.py", "--seed=1"],
        "started": 1_700_000_000.25,
        "start_ns": 1_000,
        "end_ns": 9_000,
        "recorded_ns": 8_000,
        "status": "completed",
        "exit_code": 0,
        "facts": {"host": "box", "birth": birth_mark(os.getpid())},
        "costs": {0: (50.0, 60.0, 3.5)},
        "losses": {"spans_emitted": 3, "events_dropped": 0},
        "iteration_thread": 0,
        "wall_drift": 0.5,
        **changes,
    }


def numbers(rng: np.random.Generator, layout: Sequence[Column], rows: int) -> dict[str, NDArray[Any]]:
    """A table of any numbers that its layout can hold."""
    table: dict[str, NDArray[Any]] = {}
    for column in layout:
        dtype = np.dtype(column.stored)
        if dtype.kind == "f":
            table[column.name] = rng.normal(scale=1e6, size=rows)
        else:
            top = min(np.iinfo(dtype).max, 1 << 40)
            table[column.name] = rng.integers(0, top, size=rows, dtype=np.int64)
    return table


def a_batch(seed: int = 0, uid: str = "11-aa", rows: int = 5, **process: Any) -> Batch:
    """A flush with something in every table."""
    rng = np.random.default_rng(seed)
    packed = columns.pack_histogram({int(bucket): 7 for bucket in rng.integers(0, BUCKETS, 3)})
    return Batch(
        process=process_row(uid, **process),
        threads=[(0, "MainThread", True), (1, "worker \ud800\0", False)],
        paths=[
            (0, None, 0, "", None, 6),
            (1, 0, 0, "iteration", None, 5),
            (2, 1, 0, "env_step", "env.step", 0),
            (3, None, 1, "", None, 6),
        ],
        stats=[
            (0, 0, 0, 100 + seed, None, None, 4, None, None, 0, None, b"", 0),
            (2, 21, 900, 800, 5, 300, 0, 1 << 30, 1 << 20, 1, 0, packed, 4),
        ],
        open_spans=[(1, 1_500), (2, 8_500), (2, 8_600)],
        counters=[(0, "env_steps", 256.0 + seed, 8), (1, "updates", 3.0, 3)],
        frames=[(0, None, "<module>", "train.py", 10), (1, 0, "step", "env.py", 20)],
        tables={kind: numbers(rng, layout, rows) for kind, layout in columns.KINDS.items()},
        slow=[SlowRow(4, 2_000, 700, 2, 500, numbers(rng, columns.EVENTS, 3))],
        slow_kept=[4],
        warnings=[("write-failed", "it failed", "look")],
    )


def write_part(parts: Path, batch: Batch, *more: Batch) -> Path:
    """A part in the directory, named after its process."""
    parts.mkdir(parents=True, exist_ok=True)
    path = parts / f"{batch.process['uid']}{PART_SUFFIX}"
    store = PartStore(path)
    for flush in (batch, *more):
        store.write(flush)
    store.close()
    return path


def content(found: Any) -> Any:
    """Everything that can be read of it, loaded, as plain values that can be compared."""
    if isinstance(found, Process):
        tables = ("windows", "counter_windows", "iterations", "memory", "events", "slow_iterations", "samples")
        small = {f.name: content(getattr(found, f.name)) for f in fields(found) if f.name != "load"}
        return small | {name: content(getattr(found, name)) for name in tables}
    if is_dataclass(found):
        return {f.name: content(getattr(found, f.name)) for f in fields(found)}
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, Mapping):
        return {key: content(value) for key, value in found.items()}
    if isinstance(found, (tuple, list)):
        return [content(value) for value in found]
    return found


def content_of_run(recording: Recording, *, without: Sequence[str] = ()) -> dict[str, Any]:
    """All of a recording but its place; `without` names codes of warnings that are left out."""
    found: dict[str, Any] = content(recording)
    del found["source"]
    found["warnings"] = [content(w) for w in recording.warnings if w.code not in without]
    return found


def codes(warnings: Sequence[RecordedWarning]) -> list[str]:
    return [warning.code for warning in warnings]


def change(path: Path, *statements: str) -> None:
    """Alter a database behind rlprof's back."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        with connection:
            for statement in statements:
                connection.execute(statement)
