"""The user's lines behind a vector environment: where its processes are started, and where it is stepped."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from rlprof.model.report import LineEntry, Place, Report

_PROCESSES: Final = "multiprocessing"
STEPPING: Final = ("env.wait", "env.ipc", "env.step")


def places_of_workers(report: Report) -> tuple[Place, ...]:
    """The line that starts worker processes, as far as samples tell it, then the line that steps the environment."""
    lines = (_starting(report), line_of(report, STEPPING))
    return tuple(dict.fromkeys(Place(line.file, line.line, line.function) for line in lines if line is not None))


def line_of(report: Report, parts: Collection[str]) -> LineEntry | None:
    """The user's line with most time in these parts of the ledger."""
    sums: dict[tuple[str, int], tuple[float, LineEntry]] = {}
    for part in report.drilldown or ():
        for line in part.lines if part.part in parts else ():
            if line.own:
                before = sums.get((line.file, line.line), (0.0, line))[0]
                sums[line.file, line.line] = (before + line.seconds, line)
    return max(sums.values(), key=lambda total: total[0])[1] if sums else None


def _starting(report: Report) -> LineEntry | None:
    startup = next((part for part in report.drilldown or () if part.part == "startup"), None)
    lines = [
        (sum(call.seconds for call in line.calling if _PROCESSES in call.file), line)
        for line in (startup.lines if startup is not None else ())
        if line.own
    ]
    seconds, line = max(lines, key=lambda found: found[0], default=(0.0, None))
    return line if seconds > 0 else None
