"""`teacher-cost`: asking the teacher what it would do takes a part of the run that matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import main_operations
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import spots_below
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Operation, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "teacher-cost"
TEACHER: Final = "policy.teacher"
FEWEST_CALLS: Final = 10
SMALLEST_SHARE: Final = 0.1
#: A range that the program itself has marked with this name is one, too.
MARKED: Final = "teacher"


def teacher_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when the teacher, with all that is inside of its spans, takes a tenth of the run or more."""
    operations = main_operations(report)
    asked = _asked(operations)
    calls, seconds = sum(entry.calls for entry in asked), sum(entry.total_seconds for entry in asked)
    running = training_seconds(report)
    counts = spots_below(open_account(recording.main), [entry.path for entry in asked])
    if calls < FEWEST_CALLS or seconds < SMALLEST_SHARE * running or not counts:
        return
    spots = sorted(counts, key=lambda spot: -counts[spot])
    parts = _parts(operations, asked)
    largest = max(parts, key=lambda name: parts[name], default=None)
    most_of_it = (
        f" Most of it is {largest} ({format_duration(parts[largest])})."
        if largest is not None and 2 * parts[largest] > seconds
        else ""
    )
    yield from Claim(
        RULE,
        f"the teacher takes {format_percent(seconds / running)} of the time, {format_duration(seconds / calls)} a call",
        Saving(0.0, seconds),
        tuple(Place(spot.file, spot.line, spot.function) for spot in spots[:3]),
        f"{spots[0].file}:{spots[0].line}.{most_of_it} Ask the teacher about one step in several, or only where "
        "the student is unsure; let it remember what it has worked out for a level or an episode; switch it off once "
        "reinforcement learning has taken over; move observations to the host once a step, into arrays that are kept, "
        "and answer for all agents at a time",
        {
            "phases": sorted({entry.phase for entry in asked}),
            "calls": calls,
            "teacher_seconds": seconds,
            "share_of_training": seconds / running,
            "parts": parts,
        },
        changes_learning=True,
    ).findings(report)


def _asked(operations: list[Operation]) -> list[Operation]:
    """The teacher's spans, each as a whole."""
    found = [entry for entry in operations if entry.phase == TEACHER or entry.path[-1] == MARKED]
    paths = {entry.path for entry in found}
    return [entry for entry in found if not any(entry.path[:n] in paths for n in range(1, len(entry.path)))]


def _parts(operations: list[Operation], asked: list[Operation]) -> dict[str, float]:
    """Seconds by span directly inside of the teacher's."""
    parts: dict[str, float] = {}
    for entry in operations:
        if any(entry.path[:-1] == teacher.path for teacher in asked):
            parts[entry.path[-1]] = parts.get(entry.path[-1], 0.0) + entry.total_seconds
    return dict(sorted(parts.items(), key=lambda item: -item[1]))
