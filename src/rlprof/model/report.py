"""The report: analysis, findings and warnings, ready to be drawn. Field names are the JSON contract's, schema 1.

Absent is None, never 0 or a made-up value. Durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlprof.model.recording import Status

SCHEMA: Final = 1

Severity = Literal["critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the wall clock of one process went: attributed + unattributed + overhead = wall.

    `startup_seconds` is the part of the unattributed time before training began; None where that is not known, and for
    child processes.
    """

    wall_seconds: float
    attributed_seconds: float
    unattributed_seconds: float
    overhead_seconds: float
    overhead_error_seconds: float
    startup_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    id: int
    role: str
    pid: int
    wall_seconds: float
    status: Status
    exit_code: int | None
    thread: str | None  # the thread whose time the ledger is about
    ledger: Ledger
    phases: tuple[PhaseEntry, ...]


@dataclass(frozen=True, slots=True)
class RunEntry:
    command: str
    started: str  # ISO 8601 with offset
    wall_seconds: float
    status: Status
    exit_code: int | None
    host: str | None
    python: str | None
    torch: str | None
    cpu: str | None
    cores: int | None
    gpu: str | None
    processes: tuple[ProcessEntry, ...]


@dataclass(frozen=True, slots=True)
class SpsWindow:
    t: float  # seconds since the start of the run, at the window's start
    sps: float


@dataclass(frozen=True, slots=True)
class Throughput:
    env_steps: float | None
    episodes: float | None
    iterations: int | None
    updates: float | None
    sps: float | None
    sps_steady: float | None
    updates_per_env_step: float | None
    windows: tuple[SpsWindow, ...]


@dataclass(frozen=True, slots=True)
class PhaseEntry:
    phase: str
    category: str
    seconds: float
    share: float  # of the wall clock, 0 to 1
    calls: int
    seconds_per_env_step: float | None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Gathering experience against learning from it."""

    collect_seconds: float
    train_seconds: float
    other_seconds: float
    ratio: float | None  # collect / train


@dataclass(frozen=True, slots=True)
class Operation:
    path: tuple[str, ...]
    phase: str
    process: int
    thread: str
    calls: int
    total_seconds: float
    self_seconds: float
    avg_seconds: float | None
    min_seconds: float | None
    max_seconds: float | None
    p50_seconds: float | None
    p99_seconds: float | None
    memory_peak_mb: float | None  # highest rise of resident memory above its level at the operation's entry
    gpu_memory_peak_mb: float | None
    memory_exact: bool
    open: bool  # still running when the recording ended
    labels: tuple[str, ...]  # CRITICAL, SLOW, MEMORY, GPU MEMORY


@dataclass(frozen=True, slots=True)
class Bottleneck:
    operation: str
    score: float
    share: float
    avg_ms: float
    calls: int


@dataclass(frozen=True, slots=True)
class Place:
    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A library's function that ran below a line, at the line of it that took most.

    `function` is `import NAME` for the loading of a module.
    """

    file: str
    line: int
    function: str
    seconds: float
    samples: int


@dataclass(frozen=True, slots=True)
class LineEntry:
    """A line with the time it took, the functions it called included where they are a library's."""

    file: str
    line: int
    function: str
    own: bool  # False: no line of the user's was on the stack, and this is a library's
    seconds: float
    low_seconds: float  # 95% interval: samples are few, and time without a sample may have been any line's
    high_seconds: float
    share: float  # of the wall clock, 0 to 1
    samples: int
    calling: tuple[LibraryCall, ...]  # the innermost functions of libraries below it, the largest first


@dataclass(frozen=True, slots=True)
class Drilldown:
    """A part of the ledger by line: the lines, other_seconds and unsampled_seconds add up to its seconds."""

    part: str  # a phase, "startup", or "unattributed", which is without start-up here
    seconds: float
    samples: int
    expected_samples: float  # at the rate of the whole run
    lines: tuple[LineEntry, ...]
    other_seconds: float  # lines that are not listed
    unsampled_seconds: float  # no sample was taken there


@dataclass(frozen=True, slots=True)
class Gain:
    sps_ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    severity: Severity
    title: str
    evidence: Mapping[str, Any]
    where: tuple[Place, ...]
    gain: Gain
    cure: str
    changes_learning: bool
    verify: str


@dataclass(frozen=True, slots=True)
class Regime:
    start_s: float
    end_s: float
    sps: float
    label: str
    cause: str | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    phase: str
    speedup: float | None  # None: the phase were free
    sps_ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Memory:
    rss_peak_mb: float | None
    rss_slope_mb_per_min: float | None
    gpu_peak_mb: float | None


@dataclass(frozen=True, slots=True)
class SlowestIteration:
    index: int
    t: float  # seconds since the start of the run
    seconds: float
    times_median: float | None
    phases: Mapping[str, float]  # seconds by phase, of the spans that were kept


@dataclass(frozen=True, slots=True)
class Inferred:
    """A class or function of the program that was taken for something because of its shape and use."""

    name: str  # module:Class or module:function
    file: str
    line: int
    role: str  # env, buffer or advantage


@dataclass(frozen=True, slots=True)
class ReportWarning:
    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Report:
    schema: int
    run: RunEntry
    throughput: Throughput
    ledger: Ledger
    phases: tuple[PhaseEntry, ...]
    sampling: Sampling
    operations: tuple[Operation, ...]
    bottlenecks: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]
    regimes: tuple[Regime, ...]
    whatif: tuple[WhatIf, ...]
    memory: Memory
    device: Mapping[str, Any] | None
    slow_iterations: tuple[SlowestIteration, ...]
    losses: Mapping[str, int]
    warnings: tuple[ReportWarning, ...]
    recording: str  # where the recording lies
    inferred: tuple[Inferred, ...] = ()
    drilldown: tuple[Drilldown, ...] | None = None  # of the main process; None where no stack was sampled
