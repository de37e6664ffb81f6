"""Vector environments and their worker processes: what a step in the parent consists of, and how idle workers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.operations import taken_beneath
from rlprof.analyse.vector_steps import Measured, error_of, measure, share_of
from rlprof.model.recording import Process
from rlprof.model.report import StepSplit, VectorEnvEntry, WorkerEntry, Workers
from rlprof.model.stretch_kinds import SIMULATED


@dataclass(frozen=True, slots=True)
class _VectorEnv:
    """A vector environment as its parent noted it."""

    number: int
    name: str
    pids: tuple[int, ...]
    steps: int
    total_ns: int


def workers_of(accounts: Sequence[Account]) -> Workers | None:
    """Every vector environment with worker processes that were recorded, those with the most time first."""
    entries = [
        entry
        for account in accounts
        for env in _vector_envs(account.process.facts)
        if (entry := _entry(account.process, env, _members(env, account, accounts))) is not None
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


def _members(env: _VectorEnv, parent: Account, accounts: Sequence[Account]) -> list[Account]:
    """The accounts of its workers; a pid that was given away again belongs to the one that simulated."""
    found: dict[int, Account] = {}
    for account in accounts:
        process = account.process
        if process is not parent.process and process.pid in env.pids and len(process.stretches.what):
            found[process.pid] = account
    return [found[pid] for pid in env.pids if pid in found]


def _entry(parent: Process, env: _VectorEnv, members: list[Account]) -> VectorEnvEntry | None:
    if not members:
        return None
    measured = measure(parent, env.number, [account.process for account in members])
    known = len(members) == len(env.pids) and len(measured.step_ns) > 0
    workers = tuple(_worker(account, index, measured if known else None) for index, account in enumerate(members))
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
        worker_resets=sum(worker.resets for worker in workers),
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


@dataclass(frozen=True, slots=True)
class _Simulated:
    """The outermost steps and resets of a process."""

    paths: tuple[int, ...]
    env_steps: int
    resets: int
    total_ns: float


def _simulated(account: Account) -> _Simulated:
    process, tree = account.process, account.tree
    taken = taken_beneath(account)
    paths, counts, total = [], {"env.step": 0, "env.reset": 0}, 0.0
    inside: set[int] = set()
    for identity in tree.order:
        above = tree.parent[identity]
        if above is not None and above in inside:
            inside.add(identity)
            continue
        name, stats = process.paths[identity].name, process.stats.get(identity)
        if account.phases[identity] in counts:
            inside.add(identity)
            if stats is not None and name in counts:
                paths.append(identity)
                counts[name] += stats.count
                total += max(stats.total_ns - taken[identity], 0.0)
    return _Simulated(tuple(paths), counts["env.step"], counts["env.reset"], total)


def _worker(account: Account, index: int, measured: Measured | None) -> WorkerEntry:
    simulated = _simulated(account)
    lasted = _lasted_ns(account.process, simulated.paths)
    waited = account.process.facts.get("core_wait_ns")
    slowest = None
    if measured is not None:
        slowest = float(measured.weight[measured.slowest == index].sum() / measured.weight.sum())
    return WorkerEntry(
        process=account.process.id,
        pid=account.process.pid,
        env_steps=simulated.env_steps,
        resets=simulated.resets,
        simulator_seconds=simulated.total_ns / NS_PER_SECOND,
        slowest_share=slowest,
        idle_share=min(max(1.0 - simulated.total_ns / lasted, 0.0), 1.0) if lasted > 0 else None,
        core_wait_seconds=max(waited, 0) / NS_PER_SECOND if isinstance(waited, int) else None,
    )


def _lasted_ns(process: Process, paths: Sequence[int]) -> int:
    """From the first reset or step to the end of the last: as it was noted, else to the end of its slice of time."""
    table = process.stretches
    rows = table.what == SIMULATED
    if not rows.any():
        return 0
    first = int(table.start_ns[rows].min())
    last = int((table.start_ns + table.duration_ns)[rows].max())
    windows = process.windows
    busy = np.isin(windows.path, paths) & (windows.count > 0)
    if busy.any() and int(windows.start_ns[busy].max()) > last:
        last = int(windows.end_ns[busy].max())
    return last - first
