"""`obs-transport`: large observations travel through pipes, far more slowly than memory can be copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.step_lines import places_of_workers
from rlprof.analyse.transport import Transport, transports_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, StepSplit, VectorEnvEntry
from rlprof.model.units import format_bytes, format_duration, format_percent

RULE: Final = "obs-transport"
#: Below this an observation costs no more than the message around it.
SMALLEST_OBSERVATION: Final = 32 * 1024
#: Copying memory, at the slowest: an observation through shared memory is written once and read once.
COPY_BYTES_PER_SECOND: Final = 5e9
#: What no simulator ran in, as a part of the step, and how many times longer it takes than copying would.
SMALLEST_SHARE: Final = 0.25
TIMES_COPYING: Final = 2.0
FEWEST_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class _Slow:
    entry: VectorEnvEntry
    split: StepSplit
    bytes_per_step: int
    copying: float  # seconds of a step


def obs_transport(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of environments whose observations do not go through shared memory, or where nobody said so."""
    known = transports_of(recording)
    for entry in report.workers.vector_envs if report.workers is not None else ():
        slow = _slow(entry, known.get((entry.process, entry.name)))
        if slow is None or entry.process != report.run.processes[0].id:
            continue
        step, apart = entry.step_seconds / entry.steps, slow.split.interprocess_seconds / entry.steps
        yield from Claim(
            RULE,
            f"{entry.name} takes {format_duration(apart)} of each step ({format_percent(apart / step)}) to bring "
            f"{format_bytes(slow.bytes_per_step)} of observations here; copying them takes "
            f"{format_duration(slow.copying)}",
            Saving(0.0, slow.split.interprocess_seconds + slow.split.staggered_seconds),
            places_of_workers(report),
            _cure(entry.name),
            {
                "phases": ["env.wait", "env.ipc"],
                "vector_env": entry.name,
                "workers": entry.workers,
                "observation_bytes_per_step": slow.bytes_per_step,
                "interprocess_seconds_per_step": apart,
                "interprocess_share": apart / step,
                "bytes_per_second": slow.bytes_per_step / apart,
                "copying_seconds_per_step": slow.copying,
            },
        ).findings(report)


def _slow(entry: VectorEnvEntry, transport: Transport | None) -> _Slow | None:
    """None where little is sent, or quickly, or where it is not known."""
    split = entry.split
    if transport is None or transport.shared_memory or split is None or entry.steps_measured < FEWEST_STEPS:
        return None
    if transport.observation_bytes < SMALLEST_OBSERVATION:
        return None
    sent = transport.observation_bytes * entry.workers
    copying = 2 * sent / COPY_BYTES_PER_SECOND
    apart = split.interprocess_seconds
    if apart < SMALLEST_SHARE * entry.step_seconds or apart / entry.steps < TIMES_COPYING * copying:
        return None
    return _Slow(entry, split, sent, copying)


def _cure(name: str) -> str:
    shared = {
        "AsyncVectorEnv": "gymnasium.vector.AsyncVectorEnv(env_fns, shared_memory=True), its default",
        "SubprocVecEnv": "a vector environment with shared memory (gymnasium's AsyncVectorEnv, EnvPool) in place of "
        "SubprocVecEnv, which pickles every observation",
    }.get(name, "a vector environment whose workers write observations into shared memory")
    return (
        f"let workers write observations where the parent can read them: {shared}. Send uint8 and not float32, resize "
        "and turn to grey in the worker, and hand out contiguous arrays (`np.ascontiguousarray`): those are pickled "
        "without a copy of each row"
    )
