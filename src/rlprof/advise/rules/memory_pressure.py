"""`memory-pressure`: the program waits for pages that were driven out of memory, or has next to none left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import gain_of_saving, severity_of, training_seconds
from rlprof.advise.culprit import culprit_of
from rlprof.advise.verify import run_again
from rlprof.analyse.pressure import Pressure, pressure_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_bytes, format_duration, format_percent

RULE: Final = "memory-pressure"
#: Pages read back from a disk in a second of training.
FAULTS_PER_SECOND: Final = 20.0
#: Of the training, the main thread neither ran nor was ready to.
SMALLEST_BLOCKED: Final = 0.05
#: The longest that reading one page may take: a disk that turns.
PAGE_SECONDS: Final = 0.01
#: What all processes hold of what they may.
FULL: Final = 0.9
SMALLEST_SWAPPED: Final = 64 * 1024 * 1024


def memory_pressure(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where pages come back from a disk while the program waits, or where it is about to come to that."""
    pressure = pressure_of(recording)
    waits = _waits(pressure, report)
    swapped = pressure.swapped_bytes >= SMALLEST_SWAPPED
    # Who waits for a page needs the kernel for it, and then a core again.
    stood = (pressure.blocked_seconds or 0.0) + pressure.around_seconds
    saved = min(stood, pressure.faults * PAGE_SECONDS) if waits else 0.0
    gain = gain_of_saving(report, 0.0, saved)
    severity = severity_of(gain)
    if severity in (None, "info") and (swapped or _is_full(pressure)):
        severity = "warning"  # it costs nothing yet, and a run that is killed costs all
    if severity is None:
        return
    yield Finding(
        rule=RULE,
        severity=severity,
        title=_title(pressure, waits, swapped),
        evidence=_evidence(pressure),
        where=_where(report) if waits else (),
        gain=gain,
        cure=_cure(),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _waits(pressure: Pressure, report: Report) -> bool:
    training = training_seconds(report)
    if training <= 0 or pressure.blocked_seconds is None:
        return False
    often = pressure.faults >= FAULTS_PER_SECOND * training
    return often and pressure.blocked_seconds >= SMALLEST_BLOCKED * training


def _is_full(pressure: Pressure) -> bool:
    share = pressure.share_of_limit
    return share is not None and share >= FULL


def _title(pressure: Pressure, waits: bool, swapped: bool) -> str:
    if waits:
        return (
            f"{pressure.faults:,.0f} pages were read back from a disk while training, and the main thread stood still "
            f"for {format_duration(pressure.blocked_seconds)}"
        )
    if swapped:
        return f"{format_bytes(pressure.swapped_bytes)} of the run's memory are swapped out"
    return (
        f"the run holds {format_bytes(pressure.held_bytes)}, {format_percent(pressure.share_of_limit or 0.0)} of the "
        f"{format_bytes(pressure.limit_bytes or 0)} that it may"
    )


def _evidence(pressure: Pressure) -> dict[str, object]:
    return {
        "phases": [],
        "major_faults_in_training": pressure.faults,
        "main_thread_blocked_seconds": pressure.blocked_seconds,
        "system_and_core_wait_seconds": pressure.around_seconds,
        "swapped_bytes": pressure.swapped_bytes,
        "pages_swapped_in_by_the_machine": pressure.swapped_in,
        "held_bytes": pressure.held_bytes,
        "limit_bytes": pressure.limit_bytes,
        "share_of_limit": pressure.share_of_limit,
        "available_bytes_at_the_end": pressure.available_bytes,
    }


def _where(report: Report) -> tuple[Place, ...]:
    """The user's line with most of the time after start-up: the one that stood still, if anything did for long."""
    found = culprit_of(report, {part.part for part in report.drilldown or () if part.part != "startup"})
    return (Place(found.file, found.line, found.function),) if found is not None else ()


def _cure() -> str:
    return (
        "let what is touched often fit into memory: observations as uint8 and not float32 (a quarter of the size), "
        "one copy of each frame in the replay buffer and not a stack of them (`optimize_memory_usage=True` in SB3), a "
        "smaller buffer_size. Work the size out before the run: capacity x bytes per transition; a memory-mapped "
        "buffer that is larger than memory is read from the disk at random, page by page"
    )
