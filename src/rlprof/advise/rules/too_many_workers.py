"""`too-many-workers`: many more worker processes than cores, and they spend their time waiting for one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.step_lines import places_of_workers
from rlprof.analyse.core_use import threads_at_work_of, usable_cores_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, VectorEnvEntry
from rlprof.model.units import format_duration

RULE: Final = "too-many-workers"
#: A worker or two more than cores keep these busy while others talk. Beyond this many they stand in line.
MOST_PER_CORE: Final = 3.0
#: The mean worker waits for a core for at least this part of the time in which its environment steps.
LEAST_WAIT: Final = 1.0
FEWEST_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class _Line:
    """Workers that stand in line for cores."""

    entry: VectorEnvEntry
    cores: float
    wait_times: float  # the mean worker's waiting for a core, by what its environment takes
    busy: float  # seconds of a step in which all simulators, at their shortest, keep the cores busy


def too_many_workers(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of workers with one thread each; those with several are a rule of their own."""
    for entry in report.workers.vector_envs if report.workers is not None else ():
        line = _line(recording, report, entry)
        if line is None or entry.process != report.run.processes[0].id:
            continue
        step = entry.step_seconds / entry.steps
        yield from Claim(
            RULE,
            f"{entry.workers} workers of {entry.name} share {line.cores:g} cores: each waits {line.wait_times:.2g} "
            f"times as long for one as it needs it, and a step takes {format_duration(step)} for "
            f"{format_duration(line.busy)} of simulation",
            Saving(0.0, max(step - line.busy, 0.0) * entry.steps),
            places_of_workers(report),
            _cure(line),
            {
                "phases": ["env.wait", "env.ipc"],
                "vector_env": entry.name,
                "workers": entry.workers,
                "cores": line.cores,
                "workers_per_core": entry.workers / line.cores,
                "core_wait_by_simulator_time": line.wait_times,
                "step_seconds": step,
                "least_step_seconds": line.busy,
            },
        ).findings(report)


def _line(recording: Recording, report: Report, entry: VectorEnvEntry) -> _Line | None:
    """None where the workers have cores enough, do not wait for them, or where that is not known."""
    cores, waited = usable_cores_of(recording), entry.core_wait_seconds
    if cores is None or waited is None or entry.steps < FEWEST_STEPS or entry.workers <= MOST_PER_CORE * cores:
        return None
    simulated = sum(worker.simulator_seconds for worker in entry.members) / max(len(entry.members), 1)
    processes = {process.id: process for process in recording.processes}
    known = [threads_at_work_of(processes[worker.process]) for worker in entry.members if worker.process in processes]
    several = sum(count is not None and count > 1 for count in known) > entry.workers / 2
    if several or simulated <= 0 or waited < LEAST_WAIT * simulated:
        return None
    return _Line(entry, cores, waited / simulated, _shortest(report, entry) * entry.workers / cores)


def _shortest(report: Report, entry: VectorEnvEntry) -> float:
    """The shortest step of an environment that any worker saw: nobody was in its way then."""
    members = {worker.process for worker in entry.members}
    steps = (operation for operation in report.operations if operation.process in members)
    seen = [step.min_seconds for step in steps if step.path == ("env.step",) and step.min_seconds is not None]
    return min(seen, default=0.0)


def _cure(line: _Line) -> str:
    workers = max(round(line.cores), 1)
    each = -(-line.entry.workers // workers)
    return (
        f"start about {workers} workers, as many as there are cores, and let each step {each} environments and answer "
        "once for all of them: fewer wake-ups and messages for the same steps (`env_fns` that make an environment of "
        f"{each} games, TorchRL's ParallelEnv of SerialEnv, EnvPool's num_threads). Try the numbers around it and take "
        "the one after which steps per second stop rising"
    )
