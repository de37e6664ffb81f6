"""`obs-transport`: large observations travel through pipes, piece by piece, where memory could be copied at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.step_lines import places_of_workers
from rlprof.analyse.transport import Transport, sending_seconds, transports_of
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
#: Where memory is fast that says nothing. What the mean worker spends on sending, as a part of the step, does on any
#: machine, if simulators rest meanwhile: of workers that wait for a slow one, some are held up in sending, too.
SMALLEST_SENDING: Final = 0.25
SMALLEST_APART: Final = 0.1
FEWEST_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class _Slow:
    entry: VectorEnvEntry
    split: StepSplit
    bytes_per_step: int
    sending: float | None  # seconds of all steps; None where workers' stacks do not tell

    @property
    def copying(self) -> float:
        """Seconds of a step."""
        return 2 * self.bytes_per_step / COPY_BYTES_PER_SECOND

    @property
    def apart(self) -> float:
        """Seconds of a step in which no simulator runs."""
        return self.split.interprocess_seconds / self.entry.steps

    @property
    def is_slow(self) -> bool:
        apart, whole = self.split.interprocess_seconds, self.entry.step_seconds
        if apart >= SMALLEST_SHARE * whole and self.apart >= TIMES_COPYING * self.copying:
            return True
        return (self.sending or 0.0) >= SMALLEST_SENDING * whole and apart >= SMALLEST_APART * whole


def obs_transport(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of environments whose observations do not go through shared memory, or where nobody said so."""
    known = transports_of(recording)
    for entry in report.workers.vector_envs if report.workers is not None else ():
        slow = _slow(recording, entry, known.get((entry.process, entry.name)))
        if slow is None or entry.process != report.run.processes[0].id:
            continue
        yield from Claim(
            RULE,
            _title(slow),
            Saving(0.0, slow.split.interprocess_seconds + slow.split.staggered_seconds),
            places_of_workers(report),
            _cure(entry.name),
            _evidence(slow),
        ).findings(report)


def _slow(recording: Recording, entry: VectorEnvEntry, transport: Transport | None) -> _Slow | None:
    """None where little is sent, or quickly, or where it is not known."""
    if transport is None or transport.shared_memory or entry.split is None or entry.steps_measured < FEWEST_STEPS:
        return None
    if transport.observation_bytes < SMALLEST_OBSERVATION:
        return None
    members = {worker.process for worker in entry.members}
    sending = sending_seconds([process for process in recording.processes if process.id in members])
    slow = _Slow(entry, entry.split, transport.observation_bytes * entry.workers, sending)
    return slow if slow.is_slow else None


def _title(slow: _Slow) -> str:
    share = slow.split.interprocess_seconds / slow.entry.step_seconds
    sending = slow.sending
    held_up = (
        f"; the mean worker sends for {format_percent(sending / slow.entry.step_seconds)} of the step"
        if sending is not None
        else ""
    )
    return (
        f"{slow.entry.name} takes {format_duration(slow.apart)} of each step ({format_percent(share)}) to bring "
        f"{format_bytes(slow.bytes_per_step)} of observations here{held_up}"
    )


def _evidence(slow: _Slow) -> dict[str, object]:
    entry, sending = slow.entry, slow.sending
    return {
        "phases": ["env.wait", "env.ipc"],
        "vector_env": entry.name,
        "workers": entry.workers,
        "observation_bytes_per_step": slow.bytes_per_step,
        "interprocess_seconds_per_step": slow.apart,
        "interprocess_share": slow.split.interprocess_seconds / entry.step_seconds,
        "bytes_per_second": slow.bytes_per_step / slow.apart if slow.apart > 0 else None,
        "copying_seconds_per_step": slow.copying,
        "sending_seconds_per_step": sending / entry.steps if sending is not None else None,
        "sending_share": sending / entry.step_seconds if sending is not None else None,
    }


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
