"""How much of the machine's cores a run used, how much others did, and how long its main thread waited for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.model.recording import Process, Recording


@dataclass(frozen=True, slots=True)
class CoreUse:
    """Means over the main process's life. None where the recording does not say."""

    seconds: float  # that the figures are about
    cores: float  # that the run may use: those it is bound to, or the quota where that is less
    own: float  # cores that its processes kept busy
    others: float | None  # cores that somebody else kept busy
    main_wait_share: float | None  # of the time, the main thread was ready to run and had no core
    quota: float | None
    throttled_seconds: float | None
    throttled_periods: float | None = None


def core_use_of(recording: Recording) -> CoreUse | None:
    """None where the main process did not note what it used."""
    main = recording.main
    seconds = _rise(main, "at_ns") / NS_PER_SECOND
    cores = usable_cores_of(recording)
    if seconds <= 0 or cores is None:
        return None
    own = sum(_rise(process, "cpu_seconds") for process in recording.processes) / seconds
    busy = _rise_if_known(main, "machine_busy_seconds")
    waited = _rise_if_known(main, "core_wait_ns")
    return CoreUse(
        seconds=seconds,
        cores=cores,
        own=own,
        others=max(busy / seconds - own, 0.0) if busy is not None else None,
        main_wait_share=min(waited / NS_PER_SECOND / seconds, 1.0) if waited is not None else None,
        quota=_number(main.facts, "cpu_quota"),
        throttled_seconds=_rise_if_known(main, "throttled_seconds"),
        throttled_periods=_rise_if_known(main, "throttled_periods"),
    )


def usable_cores_of(recording: Recording) -> float | None:
    """Those that the run may use at once."""
    known = [_number(recording.main.facts, name) for name in ("cores_usable", "cpu_quota")]
    limits = [limit for limit in known if limit is not None and limit > 0]
    return min(limits) if limits else _number(recording.main.facts, "cores")


def cpu_seconds_of(process: Process) -> float | None:
    """What a process computed in all its threads."""
    return _rise_if_known(process, "cpu_seconds")


def system_seconds_of(process: Process) -> float | None:
    """What the kernel computed for a process."""
    return _rise_if_known(process, "system_seconds")


def core_wait_seconds_of(process: Process) -> float | None:
    """How long a process's main thread was ready to run and had no core."""
    waited = _rise_if_known(process, "core_wait_ns")
    return waited / NS_PER_SECOND if waited is not None else None


def main_blocked_seconds(process: Process) -> float | None:
    """How long a process's main thread neither ran nor was ready to: it slept, or waited for a disk or others."""
    lasted, ran, ready = (_rise_if_known(process, name) for name in ("at_ns", "main_run_ns", "core_wait_ns"))
    if lasted is None or ran is None or ready is None:
        return None
    return max(lasted - ran - ready, 0.0) / NS_PER_SECOND


def threads_at_work_of(process: Process) -> int | None:
    """Threads of a process that take part in its work; None where it did not note them."""
    count = _number(_now(process), "threads_at_work")
    return int(count) if count is not None else None


def _now(process: Process) -> Mapping[str, Any]:
    fact = process.facts.get("core_use")
    return fact if isinstance(fact, Mapping) else {}


def _rise(process: Process, name: str) -> float:
    return _rise_if_known(process, name) or 0.0


def _rise_if_known(process: Process, name: str) -> float | None:
    before = process.facts.get("core_use_at_start")
    first, last = _number(before if isinstance(before, Mapping) else {}, name), _number(_now(process), name)
    return max(last - first, 0.0) if first is not None and last is not None else None


def _number(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
