"""Which function of the user's, or of a library that a line of the user's calls, most of a phase's time went to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from rlprof.model.report import Drilldown, LibraryCall, LineEntry, Report

#: Fewer samples place a function too roughly to name it.
FEWEST_SAMPLES: Final = 20
#: A function with less than this of the time is no place to begin.
SMALLEST_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Culprit:
    """`share` is the function's part of the time of the phases that were asked about."""

    function: str
    file: str
    line: int  # the one with most time
    share: float
    within: LibraryCall | None  # a library's function that takes most of the line, and enough to be named itself
    within_share: float = 0.0


@dataclass(slots=True)
class _Sum:
    seconds: float = 0.0
    lines: list[LineEntry] = field(default_factory=list)


def culprit_of(report: Report, parts: Collection[str]) -> Culprit | None:
    """The user's function with most of the time of these parts of the ledger; None where samples do not tell."""
    drilled = [part for part in report.drilldown or () if part.part in parts]
    seconds = sum(part.seconds for part in drilled)
    if sum(part.samples for part in drilled) < FEWEST_SAMPLES or seconds <= 0:
        return None
    sums = _by_function(drilled)
    if not sums:
        return None
    largest = max(sums.values(), key=lambda total: total.seconds)
    if largest.seconds < SMALLEST_SHARE * seconds:
        return None
    line = max(largest.lines, key=lambda entry: entry.seconds)
    below = _below(line, seconds)
    within = below.seconds / seconds if below is not None else 0.0
    return Culprit(line.function, line.file, line.line, largest.seconds / seconds, below, within)


def _below(line: LineEntry, seconds: float) -> LibraryCall | None:
    call = line.calling[0] if line.calling else None
    if call is None or call.function.startswith("import ") or call.seconds < line.seconds / 2:
        return None
    return call if call.seconds >= SMALLEST_SHARE * seconds else None


def _by_function(drilled: Collection[Drilldown]) -> dict[tuple[str, str], _Sum]:
    sums: dict[tuple[str, str], _Sum] = {}
    for part in drilled:
        for line in part.lines:
            if line.own:
                total = sums.setdefault((line.file, line.function), _Sum())
                total.seconds += line.seconds
                total.lines.append(line)
    return sums
