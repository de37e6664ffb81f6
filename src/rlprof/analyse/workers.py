"""Vector environments and their worker processes: what a step in the parent consists of, and how idle workers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.vector_steps import Measured, error_of, measure, share_of
from rlprof.model.recording import Process
from rlprof.model.report import StepSplit, VectorEnvEntry, WorkerEntry, Workers


@dataclass(frozen=True, slots=True)
class _VectorEnv:
    """A vector environment as its parent noted it."""

    number: int
    name: str
    pids: tuple[int, ...]
    steps: int
    total_ns: int


def workers_of(processes: Sequence[Process]) -> Workers | None:
    """Every vector environment with worker processes that were recorded, those with the most time first."""
    entries = [
        entry
        for process in processes
        for env in _vector_envs(process.facts)
        if (entry := _entry(process, env, _members(env, processes))) is not None
    ]
    ordered = sorted(entries, key=lambda entry: entry.step_seconds, reverse=True)
    return Workers(tuple(ordered)) if ordered else None


def _vector_envs(facts: Mapping[str, Any]) -> Iterator[_VectorEnv]:
    """What the fact says, as far as it has the form that it is written in."""
    listed = facts.get("vector_envs")
    for number, fact in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(fact, Mapping):
            continue
        pids, steps, total = fact.get("pids"), fact.get("steps"), fact.get("total_ns")
        if isinstance(pids, list) and isinstance(steps, int) and isinstance(total, int) and steps > 0 and total > 0:
            yield _VectorEnv(number, str(fact.get("name")), tuple(p for p in pids if isinstance(p, int)), steps, total)


def _members(env: _VectorEnv, processes: Sequence[Process]) -> list[Process]:
    """Its workers; a pid that was given away again belongs to the one that simulated."""
    found = {process.pid: process for process in processes if process.pid in env.pids and _worker_fact(process)}
    return [found[pid] for pid in env.pids if pid in found]


def _entry(parent: Process, env: _VectorEnv, members: list[Process]) -> VectorEnvEntry | None:
    if not members:
        return None
    measured = measure(parent, env.number, members)
    known = len(members) == len(env.pids) and len(measured.step_ns) > 0
    workers = tuple(_worker(process, index, measured if known else None) for index, process in enumerate(members))
    return VectorEnvEntry(
        name=env.name,
        process=parent.id,
        workers=len(env.pids),
        steps=env.steps,
        steps_measured=len(measured.step_ns) if known else 0,
        step_seconds=env.total_ns / NS_PER_SECOND,
        split=split_of(measured, env.steps, env.total_ns / NS_PER_SECOND) if known else None,
        env_steps=env.steps * len(env.pids),
        worker_env_steps=sum(worker.env_steps for worker in workers),
        idle_share=_mean([worker.idle_share for worker in workers]),
        idle_in_step_share=1.0 - share_of(measured.mean_ns, measured) if known else None,
        core_wait_seconds=_mean([worker.core_wait_seconds for worker in workers]),
        members=workers,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """None where it is not known of all."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def split_of(measured: Measured, steps: int, step_seconds: float) -> StepSplit:
    """The parent's time in all steps, divided as that in the measured ones."""
    parts = (
        measured.mean_ns,
        measured.slowest_ns - measured.mean_ns,
        measured.any_ns - measured.slowest_ns,
    )
    simulator, straggler, staggered = (step_seconds * share_of(part, measured) for part in parts)
    errors = [error_of(part, measured, len(measured.step_ns) / steps) for part in parts]
    known = [error for error in errors if error is not None]
    return StepSplit(
        simulator_seconds=simulator,
        straggler_seconds=straggler,
        staggered_seconds=staggered,
        interprocess_seconds=max(step_seconds - simulator - straggler - staggered, 0.0),
        error_seconds=max(known) * step_seconds if len(known) == len(errors) else None,
    )


def _worker(process: Process, index: int, measured: Measured | None) -> WorkerEntry:
    fact = _worker_fact(process)
    busy, lasted, waited = fact["total_ns"], fact["last_ns"] - fact["first_ns"], fact.get("core_wait_ns")
    slowest = None
    if measured is not None:
        slowest = float(measured.weight[measured.slowest == index].sum() / measured.weight.sum())
    return WorkerEntry(
        process=process.id,
        pid=process.pid,
        env_steps=fact["steps"],
        simulator_seconds=busy / NS_PER_SECOND,
        slowest_share=slowest,
        idle_share=min(max(1.0 - busy / lasted, 0.0), 1.0) if lasted > 0 else None,
        core_wait_seconds=max(waited, 0) / NS_PER_SECOND if isinstance(waited, int) else None,
    )


def _worker_fact(process: Process) -> Mapping[str, Any]:
    """What a worker noted of all its steps; empty where it is none, or where that has another form."""
    fact = process.facts.get("vector_worker")
    names = ("steps", "total_ns", "first_ns", "last_ns")
    if isinstance(fact, Mapping) and all(isinstance(fact.get(name), int) and fact[name] >= 0 for name in names):
        return fact
    return {}
