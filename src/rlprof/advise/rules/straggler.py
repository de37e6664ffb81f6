"""`straggler`: in nearly every step of a vector environment, all workers wait for the same one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import gain_of_saving, severity_of
from rlprof.advise.step_lines import places_of_workers
from rlprof.advise.verify import run_again
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, StepSplit, VectorEnvEntry, WorkerEntry
from rlprof.model.units import format_duration, format_percent

RULE: Final = "straggler"
#: Of the parent's time in steps, what the slowest worker takes beyond the mean one.
SMALLEST_SHARE: Final = 0.15
#: The same worker is the slowest in this part of all steps. Where cores are short, chance decides, and it changes.
SAME_WORKER: Final = 0.6
#: And it takes so many times what the median worker takes per step.
TIMES_MEDIAN: Final = 1.5
FEWEST_STEPS: Final = 50
FEWEST_WORKERS: Final = 2


def straggler(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of one worker that is slower than the others by itself, not of whoever a busy machine put off."""
    for entry in report.workers.vector_envs if report.workers is not None else ():
        split = entry.split
        if entry.process != report.run.processes[0].id or split is None or entry.steps_measured < FEWEST_STEPS:
            continue
        slowest = max(entry.members, key=lambda worker: worker.slowest_share or 0.0)
        if not _holds_up(entry, split, slowest):
            continue
        gain = gain_of_saving(report, 0.0, _saved(report, entry, split))
        severity = severity_of(gain)
        if severity is None:
            continue
        yield Finding(
            rule=RULE,
            severity=severity,
            title=_title(entry, slowest),
            evidence=_evidence(entry, split, slowest),
            where=places_of_workers(report),
            gain=gain,
            cure=_cure(entry, slowest),
            changes_learning=False,
            verify=run_again(report.run.command),
        )


def _holds_up(entry: VectorEnvEntry, split: StepSplit, slowest: WorkerEntry) -> bool:
    return (
        entry.workers >= FEWEST_WORKERS
        and split.straggler_seconds >= SMALLEST_SHARE * entry.step_seconds
        and (slowest.slowest_share or 0.0) >= SAME_WORKER
        and _each(slowest) >= TIMES_MEDIAN * _median_of_others(entry, slowest)
    )


def _each(worker: WorkerEntry) -> float:
    return worker.simulator_seconds / max(worker.env_steps, 1)


def _median_of_others(entry: VectorEnvEntry, slowest: WorkerEntry) -> float:
    others = sorted(_each(worker) for worker in entry.members if worker is not slowest)
    return others[len(others) // 2] if others else _each(slowest)


def _saved(report: Report, entry: VectorEnvEntry, split: StepSplit) -> float:
    """At most: every worker were as fast as the fastest, on the cores that there are."""
    fastest = min(_usual(report, worker) for worker in entry.members) * entry.steps
    rounds = max(entry.workers / report.run.cores, 1.0) if report.run.cores else 1.0
    return max(entry.step_seconds - split.interprocess_seconds - rounds * fastest, split.straggler_seconds)


def _usual(report: Report, worker: WorkerEntry) -> float:
    """Half of its steps are shorter: unlike the mean, it leaves out those that the machine held up."""
    steps = (o for o in report.operations if o.process == worker.process and o.path == ("env.step",))
    return min((step.p50_seconds for step in steps if step.p50_seconds is not None), default=_each(worker))


def _title(entry: VectorEnvEntry, slowest: WorkerEntry) -> str:
    return (
        f"one of {entry.workers} workers of {entry.name} (pid {slowest.pid}) is the slowest in "
        f"{format_percent(slowest.slowest_share)} of the steps: {format_duration(_each(slowest))} a step against "
        f"{format_duration(_median_of_others(entry, slowest))}, and all wait for it"
    )


def _evidence(entry: VectorEnvEntry, split: StepSplit, slowest: WorkerEntry) -> dict[str, object]:
    return {
        "phases": ["env.wait"],
        "vector_env": entry.name,
        "workers": entry.workers,
        "slowest_worker": entry.members.index(slowest),
        "slowest_pid": slowest.pid,
        "slowest_share": slowest.slowest_share,
        "slowest_step_seconds": _each(slowest),
        "median_step_seconds": _median_of_others(entry, slowest),
        "waiting_for_it_seconds": split.straggler_seconds,
        "waiting_for_it_share": split.straggler_seconds / entry.step_seconds,
        "members": [
            {"pid": worker.pid, "step_seconds": _each(worker), "slowest_share": worker.slowest_share}
            for worker in entry.members
        ],
    }


def _cure(entry: VectorEnvEntry, slowest: WorkerEntry) -> str:
    return (
        f"look what environment {entry.members.index(slowest)} (counted from 0, in the order of the list it was built "
        "from) does that the others do not: a harder level, drawing, a debug setting, a wrapper. Where the difference "
        "has to be, give several cheap environments to one worker so that all workers have as much to do; taking "
        "whoever is ready first instead of waiting for all would change which data is learned from"
    )
