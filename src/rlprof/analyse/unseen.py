"""How fast a program went while its levels rested, beside the times when they were looked at.

Levels of environments are looked at in one slice of ten. What they took in the other nine is estimated from that one; a
machine that others use changes its speed in between. The span around them is timed all the while, so it says how long
its calls took when nobody looked inside, beside those when somebody did: what is inside has changed as much.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rlprof.model.kinds import LEVEL
from rlprof.model.recording import Process

#: Calls of the span around, seen and unseen, below which its own spread says more than the machine's.
FEWEST_CALLS: Final = 20
#: Where more of its calls than this were not timed, its mean in a slice is not known well enough.
MOST_UNTIMED: Final = 0.1


def unseen_calls(process: Process, identity: int) -> float:
    """Calls of a level that were put down and not counted one by one."""
    stats, path = process.stats.get(identity), process.paths.get(identity)
    if stats is None or path is None or path.kind != LEVEL or not stats.untimed:
        return 0.0
    table = process.windows
    counted = int(table.count[table.path == identity].sum())
    return float(max(min(stats.count - counted, stats.untimed), 0))


def pace_unseen(process: Process, identity: int, around: int | None) -> float:
    """How many times as long a call of the span around took in slices in which this level was not looked at."""
    stats = process.stats.get(around) if around is not None else None
    if stats is None or stats.untimed > MOST_UNTIMED * stats.count:
        return 1.0
    table = process.windows
    looked_at = np.unique(table.end_ns[(table.path == identity) & (table.count > 0)])
    rows = (table.path == around) & (table.count > 0)
    seen = np.isin(table.end_ns[rows], looked_at)
    calls, total = table.count[rows], table.total_ns[rows]
    if min(calls[seen].sum(), calls[~seen].sum()) < FEWEST_CALLS or not total[seen].sum():
        return 1.0
    return float((total[~seen].sum() / calls[~seen].sum()) / (total[seen].sum() / calls[seen].sum()))
