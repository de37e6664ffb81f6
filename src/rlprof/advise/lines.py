"""The user's own lines behind a part of the ledger, and how findings speak of them."""

from __future__ import annotations

from collections.abc import Iterable

from rlprof.analyse.lines import interval
from rlprof.model.report import Drilldown, LineEntry, Operation, PhaseEntry, Place, Report
from rlprof.model.units import format_duration

_IMPORT = "import "


def part_named(report: Report, name: str) -> Drilldown | None:
    """A part of the ledger by line; None where it has no time or no stack was sampled."""
    return next((part for part in report.drilldown or () if part.part == name), None)


def phase_named(report: Report, name: str) -> PhaseEntry | None:
    return next((phase for phase in report.phases if phase.phase == name), None)


def seconds_of(report: Report, *phases: str) -> float:
    """The main thread's seconds in these phases."""
    return sum(phase.seconds for phase in report.phases if phase.phase in phases)


def main_operations(report: Report) -> list[Operation]:
    """The operations of the thread that the ledger is about."""
    main = report.run.processes[0]
    return [entry for entry in report.operations if entry.process == main.id and entry.thread == (main.thread or "")]


def outermost(operations: Iterable[Operation], phase: str) -> list[Operation]:
    """Operations of a phase that are not inside another one of it: their totals do not overlap."""
    mine = [entry for entry in operations if entry.phase == phase]
    paths = {entry.path for entry in mine}
    return [entry for entry in mine if not any(entry.path[:n] in paths for n in range(1, len(entry.path)))]


def collected_in(report: Report, operations: Iterable[Operation]) -> float:
    """Seconds of garbage collections below these operations, where most of all collections are: they make objects."""
    found = [entry for entry in main_operations(report) if entry.phase == "gc"]
    tops = [entry.path for entry in operations]
    below = sum(entry.self_seconds for entry in found if any(entry.path[: len(top)] == top for top in tops))
    return below if 2 * below > sum(entry.self_seconds for entry in found) else 0.0


def is_import(line: LineEntry) -> bool:
    """Whether most of a line's time was the loading of a module."""
    loading = sum(call.seconds for call in line.calling if call.function.startswith(_IMPORT))
    return loading > line.seconds / 2


def own_lines(part: Drilldown | None) -> list[LineEntry]:
    """Lines of the user's, those with the most time first."""
    return [line for line in part.lines if line.own and not is_import(line)] if part is not None else []


def together(part: Drilldown, lines: Iterable[LineEntry]) -> tuple[float, float, float]:
    """The seconds of some lines of a part taken together, with their 95% interval."""
    chosen = list(lines)
    seconds = sum(line.seconds for line in chosen)
    seen = part.seconds - part.unsampled_seconds
    low, high = interval(seconds / seen if seen > 0 else 0.0, float(part.samples))
    return seconds, min(low * seen, seconds), max(high * seen, seconds) + part.unsampled_seconds


def most_together(part: Drilldown, lines: Iterable[LineEntry]) -> float:
    """The most that each of some lines of a part can have taken, added up: more than they did together, surely."""
    chosen = list(lines)
    each = sum(max(line.high_seconds - part.unsampled_seconds, 0.0) for line in chosen)
    return min(each + part.unsampled_seconds, part.seconds) if chosen else 0.0


def place_of(line: LineEntry) -> Place:
    return Place(line.file, line.line, line.function)


def places(lines: Iterable[LineEntry], most: int = 3) -> tuple[Place, ...]:
    """Where these lines are; a line that is in several parts once."""
    return tuple(dict.fromkeys(place_of(line) for line in lines))[:most]


def evidence_of(lines: Iterable[LineEntry], most: int = 3) -> list[dict[str, object]]:
    """What is known of each line, as plain values."""
    return [
        {
            "file": line.file,
            "line": line.line,
            "function": line.function,
            "samples": line.samples,
            "estimated_seconds": line.seconds,
            "low_seconds": line.low_seconds,
            "high_seconds": line.high_seconds,
            "calling": [call.function for call in line.calling],
        }
        for line in list(lines)[:most]
    ]


def named(line: LineEntry) -> str:
    """A line as a cure speaks of it."""
    below = f", mostly in {line.calling[0].function}" if line.calling else ""
    return f"{line.file}:{line.line} (in {line.function}{below}; about {format_duration(line.seconds)})"
