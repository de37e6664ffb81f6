"""`thread-oversubscription`: worker processes, or the training process itself, compute with more threads than cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.bounds import gain_of_saving, severity_of, training_seconds
from rlprof.advise.step_lines import places_of_workers
from rlprof.advise.verify import run_again
from rlprof.analyse.core_use import core_use_of, main_blocked_seconds, threads_at_work_of, usable_cores_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, VectorEnvEntry
from rlprof.model.units import format_percent, three_digits

RULE: Final = "thread-oversubscription"
#: Threads of all workers that take part in the work, for each core.
MOST_PER_CORE: Final = 1.5
#: The mean worker is ready to run and has no core for this part of the parent's time in steps.
LEAST_WAIT: Final = 0.2
FEWEST_STEPS: Final = 50
#: Where a process that trains alone computes.
COMPUTING: Final = frozenset({"policy", "learning", "advantage"})


@dataclass(frozen=True, slots=True)
class _Crowd:
    """The workers of a vector environment and the cores they share."""

    entry: VectorEnvEntry
    threads: tuple[int, ...]  # at work in each worker
    cores: float
    wait_share: float  # of the parent's time in steps


def thread_oversubscription(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of workers with threads of their own, where many with one thread each are another matter; and of a
    training process that torch was told to have more threads in than there are cores.
    """
    yield from _alone(recording, report)
    for entry in report.workers.vector_envs if report.workers is not None else ():
        crowd = _crowd(recording, entry)
        if crowd is None or entry.process != report.run.processes[0].id:
            continue
        gain = gain_of_saving(report, 0.0, _saved(report, crowd))
        severity = severity_of(gain)
        if severity is None:
            continue
        yield Finding(
            rule=RULE,
            severity=severity,
            title=(
                f"{entry.workers} workers of {entry.name} compute with {sum(crowd.threads)} threads on {crowd.cores:g} "
                f"cores ({three_digits(sum(crowd.threads) / crowd.cores)} for each), and a worker waits for a core in "
                f"{format_percent(crowd.wait_share)} of the time of a step"
            ),
            evidence=_evidence(crowd),
            where=places_of_workers(report),
            gain=gain,
            cure=_cure(),
            changes_learning=False,
            verify=run_again(report.run.command),
        )


def _alone(recording: Recording, report: Report) -> Iterator[Finding]:
    """Threads of one calculation wait for each other: for the last of them, which has no core."""
    use, threads = core_use_of(recording), recording.main.facts.get("torch_threads")
    blocked, training = main_blocked_seconds(recording.main), training_seconds(report)
    if use is None or use.main_wait_share is None or use.quota is not None or blocked is None or training <= 0:
        return
    if len(recording.processes) > 1 or not isinstance(threads, int) or threads <= MOST_PER_CORE * use.cores:
        return
    # What others on the machine had of the cores is no fault of these threads.
    waited = use.main_wait_share * use.seconds * (1.0 - min((use.others or 0.0) / use.cores, 1.0))
    phases = [entry for entry in report.phases if entry.category in COMPUTING]
    gain = gain_of_saving(report, 0.0, min(waited + blocked, sum(entry.seconds for entry in phases)))
    severity = severity_of(gain)
    if waited < LEAST_WAIT * training or severity is None:
        return
    yield Finding(
        rule=RULE,
        severity=severity,
        title=(
            f"torch computes with {threads} threads on {use.cores:g} cores, and the main thread is ready to run and "
            f"has no core in {format_percent(waited / training)} of the time"
        ),
        evidence={
            "phases": [entry.phase for entry in phases],
            "torch_threads": threads,
            "cores": use.cores,
            "threads_per_core": threads / use.cores,
            "core_wait_seconds": waited,
            "main_blocked_seconds": blocked,
        },
        where=(),
        gain=gain,
        cure=(
            f"give torch no more threads than cores: `torch.set_num_threads({max(int(use.cores), 1)})`, or 1 for small "
            "networks, in place of the call that sets more; look for OMP_NUM_THREADS and MKL_NUM_THREADS in the "
            "environment, too"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _crowd(recording: Recording, entry: VectorEnvEntry) -> _Crowd | None:
    """None where the workers are no crowd, or where it is not known."""
    cores = usable_cores_of(recording)
    processes = {process.id: process for process in recording.processes}
    counts = [threads_at_work_of(processes[worker.process]) for worker in entry.members if worker.process in processes]
    threads = tuple(count for count in counts if count is not None)
    waited = entry.core_wait_seconds
    if cores is None or waited is None or len(threads) < entry.workers or entry.steps_measured < FEWEST_STEPS:
        return None
    crowd = _Crowd(entry, threads, cores, min(waited / entry.step_seconds, 1.0))
    several = sum(count > 1 for count in threads) > entry.workers / 2
    crowded = sum(threads) > MOST_PER_CORE * cores and crowd.wait_share >= LEAST_WAIT
    return crowd if several and crowded else None


def _saved(report: Report, crowd: _Crowd) -> float:
    """At most: every step were as short as the shortest one seen, as often as the cores have to take turns for it."""
    entry = crowd.entry
    members = {worker.process for worker in entry.members}
    steps = (operation for operation in report.operations if operation.process in members)
    seen = [step.min_seconds for step in steps if step.path == ("env.step",) and step.min_seconds is not None]
    rounds = max(entry.workers / crowd.cores, 1.0)
    return max(entry.step_seconds - rounds * min(seen, default=0.0) * entry.steps, 0.0)


def _evidence(crowd: _Crowd) -> dict[str, object]:
    entry = crowd.entry
    return {
        "phases": ["env.wait", "env.ipc"],
        "vector_env": entry.name,
        "workers": entry.workers,
        "threads_at_work": sum(crowd.threads),
        "threads_of_each_worker": list(crowd.threads),
        "cores": crowd.cores,
        "threads_per_core": sum(crowd.threads) / crowd.cores,
        "step_seconds": entry.step_seconds / entry.steps,
        "core_wait_seconds_per_step": (entry.core_wait_seconds or 0.0) / entry.steps,
        "core_wait_share": crowd.wait_share,
    }


def _cure() -> str:
    return (
        "let each worker compute with one thread: `torch.set_num_threads(1)` where its environment is made, or "
        '`os.environ["OMP_NUM_THREADS"] = "1"` (OPENBLAS_NUM_THREADS and MKL_NUM_THREADS likewise) before NumPy or '
        "torch is imported for the first time; give the learner its threads back with `torch.set_num_threads(n)`"
    )
