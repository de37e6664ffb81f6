"""`vecenv-ipc`: talking to worker processes takes longer than stepping their environments one after the other would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.bounds import gain_of_saving, severity_of, training_seconds
from rlprof.advise.step_lines import places_of_workers
from rlprof.advise.verify import run_again
from rlprof.analyse.core_use import CoreUse, core_use_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, StepSplit, VectorEnvEntry
from rlprof.model.units import format_duration, format_percent

RULE: Final = "vecenv-ipc"
#: Of a step in the parent, the part in which the mean worker's simulator runs. Above this, processes pay.
MOST_SIMULATOR: Final = 0.5
#: In one process a step must be expected to take at most this part of what it takes now.
CROSSOVER: Final = 0.8
FEWEST_STEPS: Final = 100
#: A simulator runs faster where the program has just been than in a worker that was woken up for it, whose caches are
#: cold: the bound takes half of its shortest step.
WARM: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Serial:
    """What a step of all environments would take in one process, in seconds."""

    expected: float
    least: float


def vecenv_ipc(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where the environments, one after the other without processes, are expected to be faster."""
    use = core_use_of(recording)
    # Between steps, too, the main thread waits for cores that its workers have just been woken up on.
    waiting = (use.main_wait_share or 0.0) * (1.0 - _part_of_others(use)) if use is not None else 0.0
    for entry in report.workers.vector_envs if report.workers is not None else ():
        split = entry.split
        if entry.process != report.run.processes[0].id or split is None or entry.steps_measured < FEWEST_STEPS:
            continue
        serial = _serial(report, entry)
        step = entry.step_seconds / entry.steps
        if split.simulator_seconds >= MOST_SIMULATOR * entry.step_seconds:
            continue
        if serial.expected >= CROSSOVER * (step - _waited_for_others(entry, use)):
            continue
        least, most = (max(step - each, 0.0) * entry.steps for each in (serial.expected, serial.least))
        gain = gain_of_saving(report, least, most + waiting * max(training_seconds(report) - entry.step_seconds, 0.0))
        severity = severity_of(gain)
        if severity is None:
            continue
        yield Finding(
            rule=RULE,
            severity=severity,
            title=_title(entry, split, serial),
            evidence=_evidence(entry, split, serial) | {"main_core_wait_share": waiting},
            where=places_of_workers(report),
            gain=gain,
            cure=_cure(entry),
            changes_learning=False,
            verify=run_again(report.run.command),
        )


def _waited_for_others(entry: VectorEnvEntry, use: CoreUse | None) -> float:
    """Of a step, what a worker waited for cores that others on the machine had: no fault of having processes."""
    if use is None or entry.core_wait_seconds is None:
        return 0.0
    return entry.core_wait_seconds / entry.steps * _part_of_others(use)


def _part_of_others(use: CoreUse) -> float:
    """Of the machine's cores, what others than this run kept busy; 0 where that is unknown."""
    return min((use.others or 0.0) / use.cores, 1.0)


def _serial(report: Report, entry: VectorEnvEntry) -> _Serial:
    """From spans inside the workers, which leave out pipes and wake-ups; from their busy time where there are none."""
    expected = least = 0.0
    for worker in entry.members:
        own = [o for o in report.operations if o.process == worker.process and len(o.path) == 1 and _simulates(o.phase)]
        steps = [operation for operation in own if operation.phase == "env.step"]
        busy = worker.simulator_seconds / max(worker.env_steps, 1)
        inside = sum(operation.total_seconds for operation in own) / max(worker.env_steps, 1)
        shortest = min((o.min_seconds for o in steps if o.min_seconds is not None), default=busy)
        expected += min(inside, busy) if steps else busy
        least += WARM * min(shortest, busy)
    missing = entry.workers / max(len(entry.members), 1)
    return _Serial(expected * missing, least * missing)


def _simulates(phase: str) -> bool:
    return phase in ("env.step", "env.reset", "env.render")


def _title(entry: VectorEnvEntry, split: StepSplit, serial: _Serial) -> str:
    step = entry.step_seconds / entry.steps
    return (
        f"{entry.name} takes {format_duration(step)} per step for {entry.workers} environments that need "
        f"{format_duration(serial.expected)} one after the other: workers' simulators run in only "
        f"{format_percent(split.simulator_seconds / entry.step_seconds)} of it"
    )


def _evidence(entry: VectorEnvEntry, split: StepSplit, serial: _Serial) -> dict[str, object]:
    return {
        "phases": ["env.wait", "env.ipc"],
        "vector_env": entry.name,
        "workers": entry.workers,
        "steps": entry.steps,
        "step_seconds": entry.step_seconds / entry.steps,
        "simulator_seconds_per_step": split.simulator_seconds / entry.steps,
        "simulator_share": split.simulator_seconds / entry.step_seconds,
        "interprocess_seconds_per_step": split.interprocess_seconds / entry.steps,
        "interprocess_share": split.interprocess_seconds / entry.step_seconds,
        "expected_serial_step_seconds": serial.expected,
        "least_serial_step_seconds": serial.least,
        "core_wait_seconds_per_step": (
            entry.core_wait_seconds / entry.steps if entry.core_wait_seconds is not None else None
        ),
    }


def _cure(entry: VectorEnvEntry) -> str:
    serial = {
        "AsyncVectorEnv": "gymnasium.vector.SyncVectorEnv(env_fns)",
        "SubprocVecEnv": "DummyVecEnv(env_fns) (make_vec_env(..., vec_env_cls=DummyVecEnv), its default)",
        "ParallelEnv": "torchrl.envs.SerialEnv(n, make_env)",
    }.get(entry.name, "a vector environment that steps them in this process")
    return (
        f"step the environments in this process: {serial} in place of {entry.name}. If they become dearer later, put "
        "several environments into each worker (one message for all of them) and use shared memory for observations"
    )
