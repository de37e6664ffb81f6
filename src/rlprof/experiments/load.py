"""How much of the machine others used while a trial ran: a comparison on a busy machine should say so."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from rlprof.model.comparison import ComparisonWarning

#: Others using more of the machine than this is worth a warning.
MUCH_LOAD: Final = 0.10
_STAT: Final = Path("/proc/stat")
#: user, nice, system, irq, softirq and steal in the first line: everything but idle and waiting for disks.
_BUSY_FIELDS: Final = (0, 1, 2, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Moment:
    """Clocks read together. `busy` and `own` are CPU seconds of the whole machine and of our finished children."""

    clock: float
    busy: float | None
    own: float


def now() -> Moment:
    used = os.times()
    return Moment(time.monotonic(), _busy_seconds(), used.children_user + used.children_system)


def other_share(before: Moment, after: Moment) -> float | None:
    """The share of all processors that others used in between; None where the system does not say."""
    elapsed = after.clock - before.clock
    if before.busy is None or after.busy is None or elapsed <= 0:
        return None
    others = (after.busy - before.busy) - (after.own - before.own)
    return min(max(others / (elapsed * (os.cpu_count() or 1)), 0.0), 1.0)


def typical_load(loads: Iterable[float | None]) -> float | None:
    """What others used in a typical run; None where it is known of none."""
    known = [load for load in loads if load is not None]
    return median(known) if known else None


def load_warnings(other_load: float | None) -> list[ComparisonWarning]:
    if other_load is None or other_load <= MUCH_LOAD:
        return []
    return [
        ComparisonWarning(
            "busy-machine",
            f"others used {other_load:.0%} of the machine while the trials ran, which widens every interval",
            "compare on a quiet machine, or with more runs",
        )
    ]


def _busy_seconds() -> float | None:
    try:
        fields = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        return sum(int(fields[at]) for at in _BUSY_FIELDS) / float(os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return None
