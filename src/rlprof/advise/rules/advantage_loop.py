"""`advantage-loop`: advantages are computed element by element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import (
    evidence_of,
    main_operations,
    named,
    outermost,
    own_lines,
    part_named,
    places,
    seconds_of,
    together,
)
from rlprof.advise.sites import SYNCS, user_sites
from rlprof.advise.spots import spots_of
from rlprof.advise.steps import step_calls
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, LineEntry, Report
from rlprof.model.units import format_duration

RULE: Final = "advantage-loop"
ADVANTAGE: Final = "advantage"
#: Over all environments at once a transition costs about a microsecond, element by element ten and more.
SMALLEST_EACH: Final = 5e-6
#: Of fewer steps nothing can be told.
FEWEST_STEPS: Final = 20
#: Where the first calls are booked, from before the function was recognised.
_BEFORE: Final = ("other", UNATTRIBUTED)
#: Libraries whose functions the user's own loop calls for each element.
_ARRAYS: Final = re.compile(r"[\\/](torch|numpy)[\\/]")


def advantage_loop(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when advantages take time that matters, and more for each transition than they need."""
    found = list(_in_function(recording, report))
    yield from found or _in_the_open(recording, report)


def _in_function(recording: Recording, report: Report) -> Iterator[Finding]:
    """A function that was recognised."""
    lines = [line for line in own_lines(part_named(report, ADVANTAGE)) if not _is_librarys(line)]
    steps = report.throughput.env_steps
    if not lines or not steps or _is_of_each_step(report):
        return
    functions = {(known.file, known.name.partition(":")[2]) for known in report.inferred if known.role == ADVANTAGE}
    before = sum(
        line.high_seconds
        for name in _BEFORE
        for line in own_lines(part_named(report, name))
        if (line.file, line.function) in functions
    )
    seconds = seconds_of(report, ADVANTAGE)
    if seconds / steps < SMALLEST_EACH:
        return
    reads = sum(site.calls for site in user_sites(recording, report, SYNCS) if site.mostly_in(ADVANTAGE))
    yield from Claim(
        RULE,
        f"advantages take {format_duration(seconds)}, {format_duration(seconds / steps)} for each transition",
        Saving(0.0, seconds + before),
        places(lines),
        _cure(lines[0]),
        {
            "phases": [ADVANTAGE],
            "advantage_seconds": seconds,
            "seconds_per_transition": seconds / steps,
            "single_values_read": reads,
            "single_values_per_transition": reads / steps,
            "lines": evidence_of(lines),
        },
    ).findings(report)


def _is_of_each_step(report: Report) -> bool:
    """What is worked out after each step, as a bonus for what is new, is about no rollout, whatever it looked like."""
    calls = sum(entry.calls for entry in outermost(main_operations(report), ADVANTAGE))
    return 2 * calls >= max(step_calls(report), FEWEST_STEPS)


def _in_the_open(recording: Recording, report: Report) -> Iterator[Finding]:
    """A loop backwards over the steps that stands in the training loop itself, in no function of its own."""
    steps = report.throughput.env_steps
    if not steps:
        return
    for name in (*_BEFORE, "learn.other"):
        part = part_named(report, name)
        for spot in spots_of(recording, part) if part is not None else ():
            if spot.loop is None or not spot.loop.backwards or part is None:
                continue
            seconds, _, most = together(part, spot.lines)
            if seconds / steps < SMALLEST_EACH:
                continue
            yield from Claim(
                RULE,
                f"the loop backwards at lines {spot.loop.first} to {spot.loop.last} takes {format_duration(seconds)}, "
                f"{format_duration(seconds / steps)} for each transition",
                Saving(0.0, most),
                places(spot.lines),
                _cure(spot.lines[0]),
                {
                    "phases": [name],
                    "advantage_seconds": seconds,
                    "seconds_per_transition": seconds / steps,
                    "first_line": spot.loop.first,
                    "last_line": spot.loop.last,
                    "lines": evidence_of(list(spot.lines)),
                },
            ).findings(report)


def _cure(line: LineEntry) -> str:
    return (
        f"{named(line)}: go backwards over the steps once, with all environments in one array: "
        "`running = delta[t] + gamma * lam * (1 - done[t]) * running`; in NumPy where there are few environments, "
        "with no `.item()` and no write to single elements of a tensor inside"
    )


def _is_librarys(line: LineEntry) -> bool:
    """Whether the loop is in a library that the line called."""
    below = sum(call.seconds for call in line.calling if not _ARRAYS.search(call.file))
    return below > line.seconds / 2
