"""Writes the recording that a long training of many processes would leave, without the wait.

It goes through the package's own writer, part by part, and is merged as a run's end would: readers cannot tell it from
a measured one. Times are drawn so that the ledger closes: in every slice the self times of a process's paths add up to
the slice.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlprof.model.histogram import BUCKETS, bucket_of
from rlprof.recording import columns, store
from rlprof.recording.merge import merge
from rlprof.recording.place import PART_SUFFIX, claim, parts_of
from rlprof.recording.runfile import Run, write_run
from rlprof.recording.store import Batch, PartStore, SlowRow

Ints = NDArray[np.int64]
Rows = dict[str, NDArray[Any]]
PathRow = tuple[int, "int | None", int, str, "str | None", int]

SLICE_NS = 500_000_000
SLICES_PER_CHUNK = 64
EVENTS_PER_CHUNK = 32_768
MEMORY_PER_SLICE = 5
STACKS_PER_SLICE = 40
FRAMES = 2000
TURN_NS = 2_000_000_000
STEPS_PER_TURN = 2048.0
SLOW_TURNS, SLOW_EVENTS = 16, 4000
ITERATION_KIND = 5

MAIN_LEAVES = (
    ("act", "policy.forward"), ("env_step", "env.step"), ("env_reset", "env.reset"), ("wait", "env.wait"),
    ("receive", "env.ipc"), ("send", "env.ipc"), ("store", "buffer.add"), ("to_host", "transfer.d2h"),
    ("to_device", "transfer.h2d"), ("item", "transfer.sync"), ("render", "env.render"), ("normalise", None),
    ("episode_end", None),
    ("sample", "buffer.sample"), ("gae", "advantage"), ("loss", "learn.loss"), ("backward", "learn.backward"),
    ("optimizer", "learn.optimizer"), ("clip", "learn.other"), ("shuffle", "learn.other"),
    ("teacher", "policy.teacher"),
    ("weights", "weights.sync"), ("evaluate", "evaluate"), ("log", "log"), ("checkpoint", "checkpoint"), ("gc", "gc"),
    ("schedule", None),
)  # fmt: skip
WORKER_LEAVES = (
    ("env_step", "env.step"), ("env_reset", "env.reset"), ("receive", "env.ipc"), ("send", "env.ipc"),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """How long, how many processes beside the main one, and how many single events the main one logged."""

    seconds: int = 3600
    workers: int = 7
    events: int = 0

    @property
    def slices(self) -> int:
        return self.seconds * 1_000_000_000 // SLICE_NS


@dataclass(frozen=True)
class Kind:
    """What a process is in the run: its role, and the paths of its main thread, the root first."""

    role: str
    paths: list[PathRow]

    @property
    def is_main(self) -> bool:
        return self.role == "main"


def main_kind() -> Kind:
    """Thirty paths: an iteration that collects, then learns."""
    paths: list[PathRow] = [(0, None, 0, "", None, 6), (1, 0, 0, "iteration", None, ITERATION_KIND)]
    paths += [(2, 1, 0, "rollout", None, 0), (3, 1, 0, "update", None, 0)]
    for index, (name, phase) in enumerate(MAIN_LEAVES):
        paths.append((4 + index, 2 if index < 13 else 3, 0, name, phase, 0))
    return Kind("main", paths)


def worker_kind() -> Kind:
    """Six paths: a loop that answers the main process."""
    paths: list[PathRow] = [(0, None, 0, "", None, 6), (1, 0, 0, "serve", None, 0), (2, 1, 0, "handle", None, 0)]
    paths += [(3 + index, 2, 0, name, phase, 0) for index, (name, phase) in enumerate(WORKER_LEAVES)]
    return Kind("spawn", paths)


class ProcessWriter:
    """Writes one process's part. Totals are kept while slices are drawn, as the recorder keeps them."""

    def __init__(self, part: Path, kind: Kind, parent: str | None, started: float, seed: int) -> None:
        self.kind = kind
        self.uid = uuid.UUID(int=seed).hex
        self._parent = parent
        self._started = started
        self._random = np.random.default_rng(seed)
        self._store = PartStore(part)
        self._start_ns = 10**13
        self._now_ns = self._start_ns
        n = len(kind.paths)
        self._count, self._total, self._self, self._charged = (np.zeros(n, np.int64) for _ in range(4))
        self._amounts = np.zeros(3)
        self._weights = self._random.dirichlet(np.ones(n))
        self._rate = self._random.integers(20, 2000, n)

    def write_all(self, shape: Shape) -> None:
        self._store.write(self._opening())
        whole, rest = divmod(shape.slices, SLICES_PER_CHUNK)
        with chunks_at_once():
            for _ in range(whole):
                self._store.write(self._flush(SLICES_PER_CHUNK))
        for _ in range(rest):
            self._store.write(self._flush(1))
        if shape.events and self.kind.is_main:
            self._write_events(shape.events)
        self._store.write(self._closing())
        self._store.close()

    def _process(self, status: str) -> dict[str, Any]:
        return {
            "uid": self.uid, "parent_uid": self._parent, "pid": 2**22 + 1, "role": self.kind.role,
            "argv": ["train.py"], "started": self._started, "start_ns": self._start_ns, "end_ns": self._now_ns,
            "recorded_ns": self._now_ns - self._start_ns, "status": status,
            "exit_code": 0 if status == "completed" else None, "facts": {"python": "3.11", "cores": 8},
            "costs": {str(kind): [60.0, 60.0, 3.0] for kind in range(6)}, "losses": {},
            "iteration_thread": 0 if self.kind.is_main else None, "wall_drift": 0.0,
        }  # fmt: skip

    def _opening(self) -> Batch:
        batch = Batch(self._process("running"))
        batch.threads = [(0, "MainThread", True)]
        batch.paths = self.kind.paths
        files = [f"package_{i % 40}/module_{i % 200}.py" for i in range(FRAMES)]
        # Each stack is some frames deep: a frame's parent comes before it.
        batch.frames = [(i, i - 1 if i % 12 else None, f"function_{i}", files[i], i % 900 + 1) for i in range(FRAMES)]
        return batch

    def _closing(self) -> Batch:
        batch = Batch(self._process("completed"))
        batch.stats = self._stats()
        batch.counters = [
            (index, name, float(self._amounts[index]), int(self._amounts[index]))
            for index, name in enumerate(("env_steps", "episodes", "updates"))
        ]
        if self.kind.is_main:
            batch.slow = [self._slow_turn(index) for index in range(SLOW_TURNS)]
            batch.slow_kept = [row.iteration for row in batch.slow]
        return batch

    def _flush(self, slices: int) -> Batch:
        batch = Batch(self._process("running"))
        starts = self._now_ns + SLICE_NS * np.arange(slices, dtype=np.int64)
        self._now_ns += slices * SLICE_NS
        batch.tables = {
            "windows": self._windows(starts),
            "counters": self._counters(starts),
            "memory": self._memory(starts),
            "samples": self._samples(slices),
            "sample_slices": {"end_ns": starts + SLICE_NS, "rows": np.full(slices, STACKS_PER_SLICE, np.int64)},
        }
        if self.kind.is_main:
            batch.tables["iterations"] = self._iterations(starts)
        return batch

    def _windows(self, starts: Ints) -> Rows:
        """One row per path and slice; the self times of a slice add up to it."""
        n, slices = len(self.kind.paths), len(starts)
        shares = self._weights * self._random.gamma(50.0, 1 / 50.0, (slices, n))
        own = (SLICE_NS * shares / shares.sum(axis=1, keepdims=True)).astype(np.int64)
        own[:, 0] += SLICE_NS - own.sum(axis=1)
        count = np.maximum(self._random.poisson(self._rate, (slices, n)), 1)
        count[:, 0] = 0
        total = self._totals(own)
        charged = own // 500
        self._count += count.sum(axis=0)
        self._total += total.sum(axis=0)
        self._self += own.sum(axis=0)
        self._charged += charged.sum(axis=0)
        mean = total // np.maximum(count, 1)
        return {
            "start_ns": np.repeat(starts, n),
            "end_ns": np.repeat(starts + SLICE_NS, n),
            "path": np.tile(np.arange(n, dtype=np.int64), slices),
            "count": count.ravel(),
            "total_ns": total.ravel(),
            "self_ns": own.ravel(),
            "charged_ns": charged.ravel(),
            "min_ns": (mean // 2).ravel(),
            "max_ns": (mean * 3).ravel(),
        }

    def _totals(self, own: Ints) -> Ints:
        """A path's total is its own time and all of its children's; children come after their parents."""
        total: Ints = own.copy()
        for identity, parent, *_ in reversed(self.kind.paths):
            if parent is not None:
                total[:, parent] += total[:, identity]
        total[:, 0] = 0
        return total

    def _counters(self, starts: Ints) -> Rows:
        slices = len(starts)
        amount = np.column_stack([
            np.full(slices, STEPS_PER_TURN * SLICE_NS / TURN_NS),
            self._random.poisson(3, slices),
            np.full(slices, 10),
        ]).astype(np.float64)  # fmt: skip
        self._amounts += amount.sum(axis=0)
        return {
            "start_ns": np.repeat(starts, 3),
            "end_ns": np.repeat(starts + SLICE_NS, 3),
            "counter": np.tile(np.arange(3, dtype=np.int64), slices),
            "amount": amount.ravel(),
            "calls": np.maximum(amount.ravel().astype(np.int64), 1),
        }

    def _memory(self, starts: Ints) -> Rows:
        at = np.repeat(starts, MEMORY_PER_SLICE) + np.tile(
            np.arange(MEMORY_PER_SLICE, dtype=np.int64) * (SLICE_NS // MEMORY_PER_SLICE), len(starts)
        )
        rss = 800_000_000 + 4096 * self._random.integers(0, 20_000, len(at)) + (at - self._start_ns) // 50_000
        return {"at_ns": at, "rss_bytes": rss, "device_bytes": np.full(len(at), -1, np.int64)}

    def _samples(self, slices: int) -> Rows:
        rows = slices * STACKS_PER_SLICE
        return {
            "path": self._random.integers(0, len(self.kind.paths), rows),
            "frame": np.minimum(self._random.geometric(0.005, rows), FRAMES) - 1,
            "count": self._random.integers(1, 4, rows),
        }

    def _iterations(self, starts: Ints) -> Rows:
        first = starts[(starts - self._start_ns) % TURN_NS == 0]
        return {
            "start_ns": first,
            "duration_ns": np.full(len(first), TURN_NS, np.int64),
            "env_steps": np.full(len(first), STEPS_PER_TURN),
        }

    def _events(self, start_ns: int, number: int, every_ns: int) -> Rows:
        """Spans in the order in which they closed: leaves of the tree, one after the other."""
        first_leaf, n = 4, len(self.kind.paths)
        # As uneven as measured times are: even ones would compress to nothing and be read in no time.
        steps = self._random.gamma(4.0, every_ns / 4.0, number).astype(np.int64) + 1
        return {
            "path": self._random.integers(first_leaf, n, number),
            "start_ns": start_ns + np.cumsum(steps) - steps,
            "duration_ns": (steps * self._random.uniform(0.2, 0.98, number)).astype(np.int64),
        }

    def _write_events(self, events: int) -> None:
        every_ns = (self._now_ns - self._start_ns) // events
        for first in range(0, events, EVENTS_PER_CHUNK):
            batch = Batch(self._process("running"))
            number = min(EVENTS_PER_CHUNK, events - first)
            batch.tables = {"events": self._events(self._start_ns + first * every_ns, number, every_ns)}
            self._store.write(batch)

    def _slow_turn(self, index: int) -> SlowRow:
        turn = 100 * index
        start = self._start_ns + turn * TURN_NS
        events = self._events(start, SLOW_EVENTS, TURN_NS // SLOW_EVENTS)
        return SlowRow(turn, start, TURN_NS + index, 0, 0, events)

    def _stats(self) -> list[tuple[Any, ...]]:
        rows = []
        for identity, *_ in self.kind.paths:
            count, total = int(self._count[identity]), int(self._total[identity])
            mean = total // count if count else 0
            limits = (mean // 2, mean * 3) if count else (None, None)
            rows.append((
                identity, count, total, int(self._self[identity]), *limits, int(self._charged[identity]),
                900_000_000, 5_000_000, False, None, columns.pack_histogram(_histogram(mean, count)), 0,
            ))  # fmt: skip
        return rows


def _histogram(mean: int, count: int) -> dict[int, int]:
    """Counts over a dozen buckets around the mean."""
    if not count:
        return {}
    first = min(max(bucket_of(mean) - 6, 0), BUCKETS - 12)
    histogram = dict.fromkeys(range(first, first + 12), count // 12)
    histogram[first + 6] += count % 12
    return histogram


@contextmanager
def chunks_at_once() -> Iterator[None]:
    """Let the store take what 64 flushes would bring as one: the chunk on disk is the same, without 64 commits."""
    before = store.FLUSHES_PER_CHUNK
    store.FLUSHES_PER_CHUNK = 1  # type: ignore[misc]
    try:
        yield
    finally:
        store.FLUSHES_PER_CHUNK = before  # type: ignore[misc]


def write_recording(target: Path, shape: Shape) -> Path:
    """A complete recording of that shape at `target`, merged from one part per process."""
    target = claim(target, numbered=False)
    parts = parts_of(target)
    started = time() - shape.seconds
    run = Run(("train.py", "--envs", str(shape.workers)), started, "running")
    write_run(parts, run)
    parent: str | None = None
    for index in range(1 + shape.workers):
        kind = worker_kind() if index else main_kind()
        part = parts / f"{index:04d}-{os.getpid()}{PART_SUFFIX}"
        writer = ProcessWriter(part, kind, parent, started, seed=index + 1)
        writer.write_all(shape)
        parent = parent or writer.uid
    write_run(parts, run.ended("completed", 0))
    return merge(target)
