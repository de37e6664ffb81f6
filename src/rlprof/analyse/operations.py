"""Every named operation: how often, how long, with how much memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlprof.analyse.ledger import NS_PER_SECOND, Account, cost_of
from rlprof.analyse.phases import calls_of
from rlprof.analyse.tree import is_root, is_structure, names_of, sum_beneath
from rlprof.model.histogram import quantile
from rlprof.model.recording import PathStats
from rlprof.model.report import Operation
from rlprof.model.units import BYTES_PER_MB

CRITICAL: Final = "CRITICAL"
SLOW: Final = "SLOW"
MEMORY: Final = "MEMORY"
GPU_MEMORY: Final = "GPU MEMORY"

CRITICAL_SHARE: Final = 0.30
SLOW_SECONDS: Final = 0.100
MEMORY_MB: Final = 100.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Turns a measured duration of one call into the corrected one.

    The cost inside the span is the same in each call and is taken off first. The cost of what ran beneath is known
    only as a sum, so each call gives up the same proportion: order is kept and nothing falls below zero.
    """

    inside_ns: float
    factor: float

    def seconds(self, duration_ns: float | None) -> float | None:
        if duration_ns is None:
            return None
        return max(duration_ns - self.inside_ns, 0.0) * self.factor / NS_PER_SECOND


def operations_of(account: Account) -> tuple[Operation, ...]:
    """All operations of a process, those with the most time of their own first."""
    process = account.process
    names = names_of(process, account.tree)
    below = sum_beneath(account.tree, account.taken_ns)  # rlprof's cost inside each path's inclusive time
    threads = {thread.id: thread.name for thread in process.threads}
    operations = [
        _operation(account, identity, names[identity], threads.get(process.paths[identity].thread, ""), below[identity])
        for identity in account.tree.order
        if not is_root(process.paths[identity]) and calls_of(account, identity) > 0
    ]
    return tuple(sorted(operations, key=lambda operation: operation.self_seconds, reverse=True))


def _operation(account: Account, identity: int, names: tuple[str, ...], thread: str, taken_ns: float) -> Operation:
    process = account.process
    stats = process.stats[identity]
    raw_total = stats.total_ns + sum(max(process.end_ns - since, 0) for since in stats.open_since_ns)
    self_ns = account.self_ns[identity]
    corrected = raw_total - taken_ns  # of the calls that were timed
    total_ns = max(corrected * account.times[identity], self_ns)
    calls = calls_of(account, identity)
    scale = _scale(stats, cost_of(process, process.paths[identity].kind).inside_ns, raw_total, max(corrected, 0.0))
    memory = _megabytes(stats.rss_rise_bytes)
    gpu_memory = _megabytes(stats.device_rise_bytes)
    share = self_ns / account.wall_ns if account.wall_ns else 0.0
    structure = is_structure(process.paths[identity])
    return Operation(
        path=names,
        phase=account.phases[identity],
        process=process.id,
        thread=thread,
        calls=calls,
        total_seconds=total_ns / NS_PER_SECOND,
        self_seconds=self_ns / NS_PER_SECOND,
        avg_seconds=scale.seconds(stats.total_ns / stats.timed) if stats.timed else None,
        min_seconds=scale.seconds(stats.min_ns),
        max_seconds=scale.seconds(stats.max_ns),
        p50_seconds=scale.seconds(_quantile(stats, 0.50)),
        p99_seconds=scale.seconds(_quantile(stats, 0.99)),
        memory_peak_mb=memory,
        gpu_memory_peak_mb=gpu_memory,
        memory_exact=stats.rss_exact,
        open=bool(stats.open_since_ns),
        labels=() if structure else labels_of(share, self_ns / calls / NS_PER_SECOND, memory, gpu_memory),
    )


def _scale(stats: PathStats, inside_ns: float, raw_total: int, total_ns: float) -> Scale:
    without_inside = raw_total - inside_ns * stats.timed
    return Scale(inside_ns, min(total_ns / without_inside, 1.0) if without_inside > 0 else 0.0)


def _quantile(stats: PathStats, q: float) -> float | None:
    if stats.min_ns is None or stats.max_ns is None or not any(stats.histogram.values()):
        return None
    return quantile(stats.histogram, q, stats.min_ns, stats.max_ns)


def _megabytes(size: int | None) -> float | None:
    return size / BYTES_PER_MB if size is not None else None


def labels_of(share: float, own_per_call: float, memory: float | None, gpu_memory: float | None) -> tuple[str, ...]:
    """What stands out about an operation, by its own time: nothing is blamed for what runs inside it."""
    tests = (
        (CRITICAL, share > CRITICAL_SHARE),
        (SLOW, own_per_call > SLOW_SECONDS),
        (MEMORY, memory is not None and memory > MEMORY_MB),
        (GPU_MEMORY, gpu_memory is not None and gpu_memory > MEMORY_MB),
    )
    return tuple(label for label, applies in tests if applies)
