"""What was measured in one run, as plain frozen data.

Times are integer nanoseconds. `*_ns` stamps are on the machine's monotonic clock, which all processes of a run
share; only `started` is wall-clock time. Nothing here is corrected for rlprof's own cost: analysis does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntColumn = NDArray[np.int64]
    FloatColumn = NDArray[np.float64]
else:  # the recorded program imports this module, and NumPy is not ours to import there
    IntColumn = FloatColumn = Any

#: The name of the tree that threads beyond the recorder's limit share. Their times overlap, so it is no clock.
SHARED_THREADS = "(further threads)"

Status = Literal["completed", "failed", "interrupted", "killed", "running"]


@dataclass(frozen=True, slots=True)
class SpanCost:
    """What one span of a kind costs: inside its own duration, and outside it in its parent's."""

    inside_ns: float
    outside_ns: float
    error_ns: float


@dataclass(frozen=True, slots=True)
class Thread:
    id: int
    name: str
    is_main: bool


@dataclass(frozen=True, slots=True)
class Path:
    """A node of a thread's span tree. The root of a thread has parent None and an empty name."""

    id: int
    parent: int | None
    thread: int
    name: str
    phase: str | None
    kind: int


@dataclass(frozen=True, slots=True)
class PathStats:
    """Totals of one path over the whole run.

    `self_ns` is the time in which this span was the innermost one of its thread; over all paths of a thread it adds
    up to the recorded time exactly. `total_ns` sums the durations of closed spans; `open_since_ns` holds the start
    of each span that was still open at the last flush. `charged_ns` is the part of `self_ns` that rlprof's helpers
    (sampler, writer, memory probes) took while this span was the innermost one.

    Of `count` calls, `untimed` were only counted, to keep rlprof's own cost small. Their time, and that of what ran
    inside them, is in the `self_ns` of the span around; all other figures are of the calls that were timed.
    """

    count: int
    total_ns: int
    self_ns: int
    min_ns: int | None
    max_ns: int | None
    charged_ns: int
    histogram: Mapping[int, int]  # bucket -> count; see model.histogram
    rss_peak_bytes: int | None  # highest resident size seen while the span was open
    rss_rise_bytes: int | None  # highest rise above the resident size at the span's entry
    rss_exact: bool  # measured by the kernel for each call (track_memory), not sampled
    device_rise_bytes: int | None
    open_since_ns: tuple[int, ...] = ()
    untimed: int = 0

    @property
    def timed(self) -> int:
        return self.count - self.untimed


@dataclass(frozen=True, slots=True)
class WindowTable:
    """Changes of path statistics over time: one row per path and slice of time in which it changed."""

    start_ns: IntColumn
    end_ns: IntColumn
    path: IntColumn
    count: IntColumn
    total_ns: IntColumn
    self_ns: IntColumn
    charged_ns: IntColumn


@dataclass(frozen=True, slots=True)
class CounterTable:
    """Changes of counters over time: one row per counter and slice of time in which it changed."""

    start_ns: IntColumn
    end_ns: IntColumn
    counter: IntColumn  # index into Process.counter_names
    amount: FloatColumn
    calls: IntColumn


@dataclass(frozen=True, slots=True)
class IterationTable:
    """One row per finished turn of the training loop."""

    start_ns: IntColumn
    duration_ns: IntColumn
    env_steps: FloatColumn


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """Samples of the process's resident size, and of device memory where there is a device (else -1)."""

    at_ns: IntColumn
    rss_bytes: IntColumn
    device_bytes: IntColumn


@dataclass(frozen=True, slots=True)
class EventTable:
    """Single spans, logged only in scheduled windows or kept by the flight recorder."""

    path: IntColumn
    start_ns: IntColumn
    duration_ns: IntColumn


@dataclass(frozen=True, slots=True)
class SlowIteration:
    """One of the slowest iterations, in full detail; spans shorter than `elided_below_ns` may be left out."""

    index: int
    start_ns: int
    duration_ns: int
    elided: int
    elided_below_ns: int
    events: EventTable


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the recorded program's code, below the frame that called it."""

    id: int
    parent: int | None
    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SampleTable:
    """Stack samples: how often `frame` (with its callers) was on the CPU while `path` was the innermost span.

    `end_ns` is the end of the slice of time that a row's samples were taken in, the same as in the windows; None where
    the recording does not say. Rows of the same path and frame add up.
    """

    path: IntColumn
    frame: IntColumn
    count: IntColumn
    frames: Mapping[int, Frame]
    end_ns: IntColumn | None = None


@dataclass(frozen=True, slots=True)
class StretchTable:
    """Some steps of vector environments, in the parent and in workers; which ones, model.noted_slots says."""

    what: IntColumn  # see model.stretch_kinds
    env: IntColumn  # index into the fact `vector_envs` of the parent; 0 in workers
    start_ns: IntColumn
    duration_ns: IntColumn


@dataclass(frozen=True, slots=True)
class CounterTotal:
    amount: float
    calls: int


@dataclass(frozen=True, slots=True)
class RecordedWarning:
    code: str
    message: str
    remedy: str


@dataclass(frozen=True)
class ProcessLoaders:
    """How the large tables of a process are read, when somebody asks for them."""

    windows: Callable[[], WindowTable]
    counters: Callable[[], CounterTable]
    iterations: Callable[[], IterationTable]
    memory: Callable[[], MemoryTable]
    events: Callable[[], EventTable]
    slow_iterations: Callable[[], tuple[SlowIteration, ...]]
    samples: Callable[[], SampleTable]
    stretches: Callable[[], StretchTable]


@dataclass(frozen=True)
class Process:
    """One process of the run. Small facts are here; large tables load on first use."""

    id: int
    uid: str
    parent_uid: str | None
    pid: int
    role: str  # "main", or how the process came to be: "fork", "spawn", "forkserver", "subprocess"
    argv: tuple[str, ...]
    started: float  # seconds since the epoch
    start_ns: int
    end_ns: int  # the last moment that was written
    recorded_ns: int  # end - start, less the time in which recording was switched off
    status: Status
    exit_code: int | None
    facts: Mapping[str, Any]
    costs: Mapping[int, SpanCost]  # by Path.kind
    threads: tuple[Thread, ...]
    paths: Mapping[int, Path]
    stats: Mapping[int, PathStats]
    counters: Mapping[str, CounterTotal]
    counter_names: tuple[str, ...]
    losses: Mapping[str, int]  # what was not kept; see model.losses
    warnings: tuple[RecordedWarning, ...]
    iteration_thread: int | None  # the thread whose loop turns the iterations
    load: ProcessLoaders = field(repr=False, compare=False)
    tally: Mapping[str, int] = field(default_factory=dict)  # what the recorder counted: spans emitted, written …

    @cached_property
    def windows(self) -> WindowTable:
        return self.load.windows()

    @cached_property
    def counter_windows(self) -> CounterTable:
        return self.load.counters()

    @cached_property
    def iterations(self) -> IterationTable:
        return self.load.iterations()

    @cached_property
    def memory(self) -> MemoryTable:
        return self.load.memory()

    @cached_property
    def events(self) -> EventTable:
        return self.load.events()

    @cached_property
    def slow_iterations(self) -> tuple[SlowIteration, ...]:
        return self.load.slow_iterations()

    @cached_property
    def samples(self) -> SampleTable:
        return self.load.samples()

    @cached_property
    def stretches(self) -> StretchTable:
        return self.load.stretches()


@dataclass(frozen=True)
class Recording:
    """All that was measured in one run. `processes[0]` is the main process."""

    source: str  # the file or directory it was read from
    command: tuple[str, ...]
    started: float
    status: Status
    exit_code: int | None
    processes: tuple[Process, ...]
    warnings: tuple[RecordedWarning, ...] = ()  # about the recording as a whole: parts missing, unmerged, damaged

    @property
    def main(self) -> Process:
        return self.processes[0]
