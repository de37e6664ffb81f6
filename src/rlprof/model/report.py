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

    `startup_seconds` is the part of the unattributed time before training began, `setup_seconds` that of the attributed
    time: workers are started then, files read, garbage is collected. None where unknown, and for child processes.
    """

    wall_seconds: float
    attributed_seconds: float
    unattributed_seconds: float
    overhead_seconds: float
    overhead_error_seconds: float
    startup_seconds: float | None = None
    setup_seconds: float | None = None


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
class TreatmentEntry:
    """A change that was applied to the program from outside, or was to be: `why` says why it was not."""

    text: str
    applied: bool
    why: str | None


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
    treatments: tuple[TreatmentEntry, ...] = ()
    directory: str | None = None  # in which the program ran


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
    setup_seconds: float | None = None  # before training began


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
    """What a cure can bring, end to end: `sps_ratio` if all else stays as it is (Amdahl), `high` whatever happens."""

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
class StepSplit:
    """What the parent's time in a vector environment's steps consisted of; the four parts add up to it exactly."""

    simulator_seconds: float  # the mean worker's: what is left where all workers are equal and run at once
    straggler_seconds: float  # how much longer the slowest worker of each step took than the mean one
    staggered_seconds: float  # simulators ran one after the other: late starts, too few cores
    interprocess_seconds: float  # no simulator ran: pickling, pipes, wake-ups, unpickling, the parent's own work
    error_seconds: float | None  # how far each part may be off because only some steps were measured (95%)


@dataclass(frozen=True, slots=True)
class WorkerEntry:
    """One worker process, from its own recording."""

    process: int
    pid: int
    env_steps: int
    simulator_seconds: float
    slowest_share: float | None  # of the measured steps, those in which this worker took the longest
    idle_share: float | None  # of the time from its first step to its last
    core_wait_seconds: float | None  # in that time, ready to run without a core


@dataclass(frozen=True, slots=True)
class VectorEnvEntry:
    """A vector environment whose environments live in worker processes."""

    name: str
    process: int  # the parent
    workers: int
    steps: int
    steps_measured: int  # those whose moments are known in the parent and in all workers
    step_seconds: float  # the parent's time in sending actions and waiting for answers
    split: StepSplit | None
    env_steps: int  # as the parent has them: steps times workers
    worker_env_steps: int
    idle_share: float | None
    idle_in_step_share: float | None  # of the time in which the parent was in a step
    core_wait_seconds: float | None  # the mean worker's
    members: tuple[WorkerEntry, ...]


@dataclass(frozen=True, slots=True)
class Workers:
    vector_envs: tuple[VectorEnvEntry, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Iterations in which another profiler looked on."""

    tool: str  # torch.profiler or cProfile
    iterations: int
    warmup: int  # of these, at the beginning, in which it only warmed up
    seconds: float  # its starting and saving included
    files: tuple[str, ...]  # beside the recording
    apart: bool  # False: the recording could not keep them out of its other figures


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of torch in one phase, as torch.profiler has measured it."""

    name: str
    calls: int
    total_seconds: float
    self_seconds: float  # without the operators inside
    device_seconds: float | None  # of the kernels and copies it launched itself; None where no device was seen


@dataclass(frozen=True, slots=True)
class PhaseOperators:
    """The operators that began while a phase was open; `operators` and other_seconds add up to its seconds."""

    phase: str
    calls: int
    seconds: float
    share: float  # of all operators' time
    device_seconds: float | None
    operators: tuple[Operator, ...]
    other_seconds: float  # of operators that are not listed


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
    workers: Workers | None = None
    verdict: str | None = None  # what bounds the run, in a sentence or two
    windows: tuple[Window, ...] = ()
    operators: tuple[PhaseOperators, ...] | None = None  # of torch, by phase; None without a trace of the run's own
