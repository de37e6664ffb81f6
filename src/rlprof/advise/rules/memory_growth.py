"""`memory-growth`: resident memory rises with every step and never rests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import gain_of_saving
from rlprof.advise.verify import run_again
from rlprof.analyse.core_use import system_seconds_of
from rlprof.analyse.course import course_of
from rlprof.analyse.leak import Leak, leak_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import BYTES_PER_MB, format_bytes, format_duration, format_megabytes

RULE: Final = "memory-growth"
#: Up to this, what is kept of each step may be a transition in a buffer that nobody recognised.
LIKE_A_TRANSITION: Final = 4096.0
#: And a rise of less than this may still come to rest: a short run has not seen enough.
LEAST_LOUD_MB: Final = 64.0


def memory_growth(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where memory keeps rising and no replay buffer was seen to fill."""
    main = recording.main
    leak = leak_of(main.memory, course_of(recording).pace, main.facts.get("allocated_bytes"))
    if leak is None or leak.may_fill:
        return
    full = _minutes_until_full(recording, leak)
    yield Finding(
        rule=RULE,
        severity="warning" if _is_loud(leak) else "info",
        title=(
            f"resident memory grows by {format_megabytes(leak.line.slope)} a minute and does not rest "
            f"({format_megabytes(leak.first_mb)} to {format_megabytes(leak.last_mb)} in "
            f"{format_duration(leak.seconds)})"
        ),
        evidence={
            "mb_per_minute": leak.line.slope,
            "mb_per_minute_low": leak.line.low,
            "mb_per_minute_high": leak.line.high,
            "first_mb": leak.first_mb,
            "last_mb": leak.last_mb,
            "seconds": leak.seconds,
            "bytes_per_env_step": leak.bytes_per_step,
            "minutes_until_memory_is_full": full,
        },
        where=(),
        gain=_gain(recording, report),
        cure=_cure(leak, full),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _is_loud(leak: Leak) -> bool:
    return leak.bytes_per_step > LIKE_A_TRANSITION and leak.last_mb - leak.first_mb >= LEAST_LOUD_MB


def _gain(recording: Recording, report: Report) -> Gain:
    """Memory that is never used again has to be made ready by the kernel: no more than all that it did can be saved."""
    seconds = system_seconds_of(recording.main) or 0.0
    known = seconds > report.ledger.overhead_error_seconds
    return gain_of_saving(report, 0.0, seconds) if known else Gain(1.0, 1.0, 1.0)


def _minutes_until_full(recording: Recording, leak: Leak) -> float | None:
    """At this pace, were the machine this program's alone; None where its memory is not known."""
    size = recording.main.facts.get("memory_bytes")
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        return None
    return max(size / BYTES_PER_MB - leak.last_mb, 0.0) / leak.line.slope


def _cure(leak: Leak, full: float | None) -> str:
    end = "" if full is None else f", and this machine's memory is full after {format_duration(60 * full)} more"
    return (
        f"something is kept of every step, {format_bytes(leak.bytes_per_step)} each: 1 GB more every "
        f"{format_duration(60 * 1000.0 / leak.line.slope)}{end}. Keep losses and returns as numbers "
        "(`loss.item()`): a tensor "
        "that is kept keeps the graph and all activations that it came from; bound lists and caches with "
        "`deque(maxlen=...)`. Resident memory does not tell which line keeps it: "
        "`tracemalloc` tells for Python objects, and for tensors look for lists that outlive an episode"
    )
