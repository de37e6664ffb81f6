"""Which of the slowest iterations are worth a table."""

from __future__ import annotations

from typing import Final

from rlprof.model.report import Report, SlowestIteration

#: Iterations closer to the median than this are ordinary.
STANDS_OUT: Final = 1.2


def comparable(report: Report) -> tuple[SlowestIteration, ...]:
    """The slowest iterations, slowest first; a single iteration has nothing to be slower than."""
    return report.slow_iterations if (report.throughput.iterations or 0) > 1 else ()


def stands_out(slow: SlowestIteration) -> bool:
    """Whether an iteration is far enough from the median to ask why; without a median it may be."""
    return slow.times_median is None or slow.times_median >= STANDS_OUT
