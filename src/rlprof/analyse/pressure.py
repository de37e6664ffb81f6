"""Whether a run was short of memory: pages that had to be read back, what is swapped out, how near it is to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlprof.analyse.core_use import core_wait_seconds_of, main_blocked_seconds, system_seconds_of
from rlprof.analyse.course import course_of
from rlprof.analyse.memory import rss_peak_mb
from rlprof.model.recording import Process, Recording
from rlprof.model.units import BYTES_PER_MB


@dataclass(frozen=True, slots=True)
class Pressure:
    faults: float  # pages of the main process that were read from a disk after start-up
    blocked_seconds: float | None  # in the whole run, its main thread neither ran nor was ready to
    around_seconds: float  # that the kernel computed for it, and that it then waited for a core
    swapped_bytes: int  # of all processes, at the end of each
    swapped_in: float | None  # pages that the whole machine read back from swap
    held_bytes: float  # the peaks of all processes but forked ones
    limit_bytes: int | None  # of the control group, or else the machine's memory
    available_bytes: float | None

    @property
    def share_of_limit(self) -> float | None:
        return self.held_bytes / self.limit_bytes if self.limit_bytes else None


def pressure_of(recording: Recording) -> Pressure:
    """What the recording says; nothing where it says nothing."""
    main = recording.main
    now, before = _use(main, "memory_use"), _use(main, "memory_use_at_start")
    pages, pages_before = _number(now, "machine_pages_swapped_in"), _number(before, "machine_pages_swapped_in")
    limits = [_number(main.facts, name) for name in ("memory_limit_bytes", "memory_bytes")]
    swapped = [_number(_use(process, "memory_use"), "swapped_bytes") or 0.0 for process in recording.processes]
    return Pressure(
        faults=_faults_in_training(recording),
        blocked_seconds=main_blocked_seconds(main),
        around_seconds=(system_seconds_of(main) or 0.0) + (core_wait_seconds_of(main) or 0.0),
        swapped_bytes=int(sum(swapped)),
        swapped_in=max(pages - pages_before, 0.0) if pages is not None and pages_before is not None else None,
        held_bytes=_held_bytes(recording),
        limit_bytes=int(min((limit for limit in limits if limit), default=0)) or None,
        available_bytes=_number(now, "machine_available_bytes"),
    )


def _faults_in_training(recording: Recording) -> float:
    """A program's start reads its libraries from the disk in the same way: that is no pressure."""
    rows = recording.main.facts.get("major_faults")
    pace = course_of(recording).pace
    known = [row for row in rows if _is_row(row)] if isinstance(rows, list) else []
    if pace is None or not known:
        return 0.0
    at, count = np.array(known, np.float64).T
    return max(float(count[-1] - np.interp(float(pace.start_ns[0]), at, count)), 0.0)


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(type(value) is int for value in row)


def _held_bytes(recording: Recording) -> float:
    """Forked workers share pages with their parent, and nobody knows how many: they are left out."""
    counted = [process for process in recording.processes if process.role != "fork"]
    return sum((rss_peak_mb(process) or 0.0) * BYTES_PER_MB for process in counted)


def _use(process: Process, name: str) -> Mapping[str, Any]:
    fact = process.facts.get(name)
    return fact if isinstance(fact, Mapping) else {}


def _number(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
