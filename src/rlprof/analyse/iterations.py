"""The slowest turns of the training loop, and what they were busy with."""

from __future__ import annotations

from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.tree import is_structure
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import EventTable, SlowIteration
from rlprof.model.report import SlowestIteration

SHOWN: Final = 10


def slowest_iterations(account: Account, run_start_ns: int) -> tuple[SlowestIteration, ...]:
    """The slowest iterations of a process, slowest first; in detail where the flight recorder kept them."""
    table = account.process.iterations
    median = float(np.median(table.duration_ns)) if len(table.duration_ns) else 0.0
    kept = account.process.slow_iterations or _from_table(account)
    return tuple(
        SlowestIteration(
            index=slow.index,
            t=(slow.start_ns - run_start_ns) / NS_PER_SECOND,
            seconds=slow.duration_ns / NS_PER_SECOND,
            times_median=slow.duration_ns / median if median > 0 else None,
            phases=phase_seconds(account, slow),
        )
        for slow in sorted(kept, key=lambda slow: slow.duration_ns, reverse=True)[:SHOWN]
    )


def _from_table(account: Account) -> tuple[SlowIteration, ...]:
    """What is known of the slowest iterations when no detail was kept: when, and how long."""
    table = account.process.iterations
    none = np.empty(0, np.int64)
    return tuple(
        SlowIteration(int(i), int(table.start_ns[i]), int(table.duration_ns[i]), 0, 0, EventTable(none, none, none))
        for i in np.argsort(table.duration_ns)[::-1][:SHOWN]
    )


def phase_seconds(account: Account, slow: SlowIteration) -> dict[str, float]:
    """The iteration's seconds by phase, largest first, with what no kept span covers as unattributed."""
    if not len(slow.events.path):
        return {}
    own = _own_durations(account, slow.events)
    seconds: dict[str, float] = {}
    for identity, duration in own.items():
        if not is_structure(account.process.paths[identity]):
            phase = account.phases[identity]
            seconds[phase] = seconds.get(phase, 0.0) + duration / NS_PER_SECOND
    rest = slow.duration_ns / NS_PER_SECOND - sum(seconds.values())
    if rest > 0:
        seconds[UNATTRIBUTED] = seconds.get(UNATTRIBUTED, 0.0) + rest
    return dict(sorted(((p, s) for p, s in seconds.items() if s > 0), key=lambda item: item[1], reverse=True))


def _own_durations(account: Account, events: EventTable) -> dict[int, float]:
    """Durations by path less those of the paths beneath: a path says what its spans were nested in."""
    lane = set(account.lane_paths)
    paths, rows = np.unique(events.path, return_inverse=True)
    sums = np.bincount(rows, events.duration_ns, len(paths))
    own = {int(path): float(total) for path, total in zip(paths, sums, strict=True) if int(path) in lane}
    totals = dict(own)
    for identity, total in totals.items():
        above = account.tree.parent[identity]
        if above is not None and above in own:
            own[above] -= total
    return {identity: max(duration, 0.0) for identity, duration in own.items()}
