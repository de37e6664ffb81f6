"""Synthetic recordings: a nested description of spans becomes a valid Recording, times and all.

    recording = (
        a_recording(seconds=10)
        .spans(span("rollout", span("env.step", count=1000, self_seconds=6.0)), self_seconds=1.0)
        .counter("env_steps", 8000)
        .build()
    )

Self times are what is said; totals, histograms, minima and maxima follow from them (every call of a span is taken to
last equally long). What the spans leave of the recorded time is the root's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from rlprof.model.histogram import bucket_of
from rlprof.model.kinds import ITERATION, WITH
from rlprof.model.recording import (
    CounterTable,
    CounterTotal,
    EventTable,
    Frame,
    IterationTable,
    MemoryTable,
    Path,
    PathStats,
    Process,
    ProcessLoaders,
    RecordedWarning,
    Recording,
    SampleTable,
    SlowIteration,
    SpanCost,
    Status,
    StretchTable,
    Thread,
    WindowTable,
)

SECOND = 1_000_000_000
START_NS = 1_000 * SECOND
STARTED = 1_767_607_200.0  # 2026-01-05 10:00 UTC
ROOT_KIND = 6

FACTS: dict[str, Any] = {
    "host": "bench-1",
    "python": "3.11.7",
    "torch": "2.13.0",
    "cpu": "Example CPU 3.0 GHz",
    "cores": 16,
    "gpu": None,
}


@dataclass(frozen=True)
class SpanSpec:
    """A span as a test describes it."""

    name: str
    children: tuple[SpanSpec, ...]
    count: int
    self_ns: int
    phase: str | None
    kind: int
    charged_ns: int
    rss_rise: int | None
    rss_exact: bool
    device_rise: int | None
    open_calls: int
    untimed: int

    @property
    def total_ns(self) -> int:
        return self.self_ns + sum(child.total_ns for child in self.children)


def span(
    name: str,
    *children: SpanSpec,
    count: int = 1,
    self_seconds: float = 0.0,
    self_ns: int | None = None,
    phase: str | None = None,
    kind: int = WITH,
    charged_ns: int = 0,
    rss_rise: int | None = None,
    rss_exact: bool = False,
    device_rise: int | None = None,
    open_calls: int = 0,
    untimed: int = 0,
) -> SpanSpec:
    """One path: its timed calls, its own time over all of them, and what runs inside it."""
    own = round(self_seconds * SECOND) if self_ns is None else self_ns
    return SpanSpec(
        name, children, count, own, phase, kind, charged_ns, rss_rise, rss_exact, device_rise, open_calls, untimed
    )


def iteration(*children: SpanSpec, count: int = 1, self_seconds: float = 0.0) -> SpanSpec:
    """The turns of the training loop."""
    return span("iteration", *children, count=count, self_seconds=self_seconds, kind=ITERATION)


@dataclass(frozen=True)
class FrameSpec:
    function: str
    file: str
    line: int


Builder = TypeVar("Builder", bound="ProcessBuilder")


@dataclass
class ProcessBuilder:
    """Builds one process; every method returns the builder."""

    seconds: float
    id: int = 1
    pid: int = 4242
    role: str = "main"
    status: Status = "completed"
    exit_code: int | None = 0
    facts: Mapping[str, Any] = field(default_factory=lambda: dict(FACTS))
    costs: dict[int, SpanCost] = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)
    paths: dict[int, Path] = field(default_factory=dict)
    stats: dict[int, PathStats] = field(default_factory=dict)
    counts: dict[str, CounterTotal] = field(default_factory=dict)
    counter_rows: list[tuple[int, int, str, float]] = field(default_factory=list)
    turns: tuple[Sequence[int], Sequence[int], Sequence[float]] = ((), (), ())
    memory_rows: list[tuple[int, int, int]] = field(default_factory=list)
    slow: tuple[SlowIteration, ...] = ()
    sample_rows: list[tuple[int, int, int]] = field(default_factory=list)
    sample_ends: list[int] = field(default_factory=list)
    window_rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    frames: dict[int, Frame] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=lambda: {"spans_dropped": 0})
    notes: list[RecordedWarning] = field(default_factory=list)
    turning_thread: int | None = None
    stretch_rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    gap_ns: int = 0

    @property
    def recorded_ns(self) -> int:
        return round(self.seconds * SECOND)

    @property
    def end_ns(self) -> int:
        return START_NS + self.recorded_ns

    def cost(
        self: Builder, kind: int = WITH, *, inside: float = 0.0, outside: float = 0.0, error: float = 0.0
    ) -> Builder:
        self.costs[kind] = SpanCost(inside, outside, error)
        return self

    def spans(
        self: Builder, *specs: SpanSpec, thread: str = "MainThread", lived: float | None = None, charged_ns: int = 0
    ) -> Builder:
        """A thread with these spans at its top; `lived` is how much of the recorded time it existed."""
        number = len(self.threads)
        self.threads.append(Thread(number, thread, number == 0))
        root = self._add_path(None, number, "", None, ROOT_KIND)
        lived_ns = self.recorded_ns if lived is None else round(lived * SECOND)
        own = max(lived_ns - sum(spec.total_ns for spec in specs), 0)
        self.stats[root] = PathStats(0, 0, own, None, None, charged_ns, {}, None, None, False, None)
        for spec in specs:
            self._add(spec, root, number)
        return self

    def _add_path(self, parent: int | None, thread: int, name: str, phase: str | None, kind: int) -> int:
        number = len(self.paths)
        self.paths[number] = Path(number, parent, thread, name, phase, kind)
        return number

    def _add(self, spec: SpanSpec, parent: int, thread: int) -> None:
        number = self._add_path(parent, thread, spec.name, spec.phase, spec.kind)
        if spec.kind == ITERATION and self.turning_thread is None:
            self.turning_thread = thread
        # Calls still open share the time like the others, and have not been booked as ended.
        each = spec.total_ns // max(spec.count + spec.open_calls, 1)
        closed = spec.total_ns - each * spec.open_calls if spec.count else 0
        mean = closed // spec.count if spec.count else None
        self.stats[number] = PathStats(
            count=spec.count + spec.untimed,
            untimed=spec.untimed,
            total_ns=closed,
            self_ns=spec.self_ns,
            min_ns=mean,
            max_ns=mean,
            charged_ns=spec.charged_ns,
            histogram={bucket_of(mean): spec.count} if mean is not None else {},
            rss_peak_bytes=None if spec.rss_rise is None else 500_000_000 + spec.rss_rise,
            rss_rise_bytes=spec.rss_rise,
            rss_exact=spec.rss_exact,
            device_rise_bytes=spec.device_rise,
            open_since_ns=tuple(self.end_ns - each for _ in range(spec.open_calls)),
        )
        for child in spec.children:
            self._add(child, number, thread)

    def find(self, name: str) -> int:
        """The id of the first path of that name; the empty name is the first root."""
        return next(path.id for path in self.paths.values() if path.name == name)

    def with_stats(self: Builder, name: str, **changes: Any) -> Builder:
        number = self.find(name)
        self.stats[number] = replace(self.stats[number], **changes)
        return self

    def counter(self: Builder, name: str, total: float, *, first: float = 0.0, last: float | None = None) -> Builder:
        """A counter that rises evenly between two moments, in slices of a second."""
        end = self.seconds if last is None else last
        return self.counter_slices(name, _even_slices(total, first, end))

    def counter_slices(self: Builder, name: str, slices: Sequence[tuple[float, float, float]]) -> Builder:
        """A counter by slices of (start, end, amount), in seconds since the process began."""
        total = sum(amount for _, _, amount in slices)
        self.counts[name] = CounterTotal(total, max(len(slices), 1))
        for start, end, amount in slices:
            row = (START_NS + round(start * SECOND), START_NS + round(end * SECOND), name, amount)
            self.counter_rows.append(row)
        return self

    def iterations(self: Builder, durations: Sequence[float], env_steps: float = 0.0, first: float = 0.0) -> Builder:
        """Turns of the loop, one after the other."""
        starts, at = [], START_NS + round(first * SECOND)
        for duration in durations:
            starts.append(at)
            at += round(duration * SECOND)
        self.turns = (starts, [round(d * SECOND) for d in durations], [env_steps] * len(durations))
        return self

    def slow_iteration(self: Builder, index: int, at: float, seconds: float, events: Mapping[str, float]) -> Builder:
        """A slowest iteration with one event per named path."""
        paths = np.array([self.find(name) for name in events], np.int64)
        start = START_NS + round(at * SECOND)
        table = EventTable(paths, np.full(len(paths), start, np.int64), _ns(events.values()))
        self.slow = (*self.slow, SlowIteration(index, start, round(seconds * SECOND), 0, 0, table))
        return self

    def memory(self: Builder, rows: Sequence[tuple[float, int, int]]) -> Builder:
        """Samples of (second, resident bytes, device bytes or -1)."""
        self.memory_rows += [(START_NS + round(at * SECOND), rss, device) for at, rss, device in rows]
        return self

    def sample(self: Builder, path: str, count: int, *stack: FrameSpec) -> Builder:
        """Stack samples in a path; the stack goes from the outermost caller to the leaf."""
        parent: int | None = None
        for spec in stack:
            known = (parent, spec.function, spec.file, spec.line)
            number = next((i for i, f in self.frames.items() if (f.parent, f.function, f.file, f.line) == known), 0)
            if not number:
                number = len(self.frames) + 1
                self.frames[number] = Frame(number, *known)
            parent = number
        self.sample_rows.append((self.find(path), parent or 0, count))
        return self

    def slice_of_time(
        self: Builder,
        start: float,
        end: float,
        own: Mapping[str, float],
        samples: Sequence[tuple[str, int, tuple[FrameSpec, ...]]] = (),
        calls: Mapping[str, int] | None = None,
    ) -> Builder:
        """A slice with the own seconds of the named paths, how often they were called, and the stacks sampled in it."""
        first, last = START_NS + round(start * SECOND), START_NS + round(end * SECOND)
        for name, seconds in own.items():
            count = (calls or {}).get(name, 1)
            self.window_rows.append((first, last, self.find(name), count, round(seconds * SECOND)))
        for path, count, stack in samples:
            self.sample(path, count, *stack)
            self.sample_ends.append(last)
        return self

    def stretch(self: Builder, what: int, start: float, seconds: float, env: int = 0) -> Builder:
        """One noted stretch of a vector environment's step, in seconds since the process began."""
        self.stretch_rows.append((what, env, START_NS + round(start * SECOND), round(seconds * SECOND)))
        return self

    def losses(self: Builder, **lost: int) -> Builder:
        self.lost.update(lost)
        return self

    def warning(self: Builder, code: str, message: str, remedy: str) -> Builder:
        self.notes.append(RecordedWarning(code, message, remedy))
        return self

    def build_process(self) -> Process:
        return Process(
            id=self.id,
            uid=f"uid-{self.id}",
            parent_uid=None if self.role == "main" else "uid-1",
            pid=self.pid,
            role=self.role,
            argv=("train.py",),
            started=STARTED,
            start_ns=START_NS,
            end_ns=self.end_ns,
            recorded_ns=self.recorded_ns + self.gap_ns,
            status=self.status,
            exit_code=self.exit_code,
            facts=self.facts,
            costs=self.costs,
            threads=tuple(self.threads),
            paths=self.paths,
            stats=self.stats,
            counters=self.counts,
            counter_names=tuple(self.counts),
            losses=self.lost,
            warnings=tuple(self.notes),
            iteration_thread=self.turning_thread,
            load=self._loaders(),
        )

    def _loaders(self) -> ProcessLoaders:
        names = list(self.counts)
        starts, durations, steps = self.turns
        counter_rows = self.counter_rows
        return ProcessLoaders(
            windows=lambda: WindowTable(
                *(_column([row[part] for row in self.window_rows]) for part in range(4)),
                total_ns=_column([row[4] for row in self.window_rows]),
                self_ns=_column([row[4] for row in self.window_rows]),
                charged_ns=_column([0] * len(self.window_rows)),
            ),
            counters=lambda: CounterTable(
                start_ns=_column([row[0] for row in counter_rows]),
                end_ns=_column([row[1] for row in counter_rows]),
                counter=_column([names.index(row[2]) for row in counter_rows]),
                amount=np.array([row[3] for row in counter_rows], np.float64),
                calls=np.ones(len(counter_rows), np.int64),
            ),
            iterations=lambda: IterationTable(_column(starts), _column(durations), np.array(steps, np.float64)),
            memory=lambda: MemoryTable(*(_column([row[part] for row in self.memory_rows]) for part in range(3))),
            events=lambda: EventTable(*(np.empty(0, np.int64) for _ in range(3))),
            slow_iterations=lambda: self.slow,
            samples=lambda: SampleTable(
                path=_column([row[0] for row in self.sample_rows]),
                frame=_column([row[1] for row in self.sample_rows]),
                count=_column([row[2] for row in self.sample_rows]),
                frames=self.frames,
                end_ns=_column(self.sample_ends) if self.sample_ends else None,
            ),
            stretches=lambda: StretchTable(*(_column([row[part] for row in self.stretch_rows]) for part in range(4))),
        )


@dataclass
class RecordingBuilder(ProcessBuilder):
    """A recording whose main process is described on the builder itself."""

    command: tuple[str, ...] = ("train.py", "--envs", "8")
    source: str = "rlprof-runs/train-20260105-100000.rlprof"
    others: list[ProcessBuilder] = field(default_factory=list)
    recording_notes: list[RecordedWarning] = field(default_factory=list)

    def child(self, other: ProcessBuilder) -> RecordingBuilder:
        other.id = len(self.others) + 2
        other.pid = self.pid + len(self.others) + 1
        self.others.append(other)
        return self

    def build(self) -> Recording:
        main = self.build_process()
        return Recording(
            source=self.source,
            command=self.command,
            started=STARTED,
            status=self.status,
            exit_code=self.exit_code,
            processes=(main, *(other.build_process() for other in self.others)),
            warnings=tuple(self.recording_notes),
        )


def a_recording(seconds: float = 10.0, **changes: Any) -> RecordingBuilder:
    return RecordingBuilder(seconds=seconds, **changes)


def a_child(seconds: float = 10.0, role: str = "fork", **changes: Any) -> ProcessBuilder:
    return ProcessBuilder(seconds=seconds, role=role, **changes)


def _even_slices(total: float, first: float, last: float) -> list[tuple[float, float, float]]:
    edges = [*np.arange(first, last, 1.0).tolist(), last]
    return [(a, b, total * (b - a) / (last - first)) for a, b in pairwise(edges)]


def _column(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


def _ns(seconds: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([round(value * SECOND) for value in seconds], np.int64)
