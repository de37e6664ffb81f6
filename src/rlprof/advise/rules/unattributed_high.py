"""`unattributed-high`: much of the run is in no span. The stack samples say which lines it was.

Between env steps, and between updates, rlprof itself opens a span for the stage of the loop. What is in no other span
there has a phase, but is not known any better: it counts, too, where one spot of the program takes much of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rlprof.advise.bounds import gain_if_free, late_imports, training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import (
    evidence_of,
    main_operations,
    named,
    own_lines,
    part_named,
    phase_named,
    places,
    together,
)
from rlprof.advise.remedies import LOOP, remedy_of
from rlprof.advise.spots import Spot, spot_of, spots_of
from rlprof.advise.verify import run_again
from rlprof.analyse.inner_loops import TRAINING
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import shares_of_functions
from rlprof.model.phases import OTHER, UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, LineEntry, Report, Severity
from rlprof.model.units import format_duration, format_percent

RULE: Final = "unattributed-high"
SMALLEST_SHARE: Final = 0.10
SMALLEST_SECONDS: Final = 1.0
FEWEST_SAMPLES: Final = 20
PLACES_NAMED: Final = 5
#: A place with a smaller part of the samples than this is chance.
SMALLEST_PLACE: Final = 0.05
#: The spans of stages that rlprof infers, and where their own time is booked.
_STAGES: Final = {"collecting": OTHER, "learning": "learn.other"}
#: What the stage itself must have of that part, so that its samples are the stage's.
MOSTLY: Final = 0.7
#: What a function must have of the run there, or a line of the loop: acting and learning leave work beside spans.
SMALLEST_FUNCTION: Final = 0.1
SMALLEST_LINE: Final = 0.2
#: What a line of the loop must have of the run to be called the cause.
MOST_OF_RUN: Final = 0.5
#: A function that nearly all stacks have in common is the program's main loop.
ENTRY_SHARE: Final = 0.97
_UNKNOWN: Final = (
    "see whether it is needed in every turn of the loop, or could be done less often, for all environments at once, "
    "or outside of the loop"
)
#: What torch does for a line beside the spans is acting or learning.
_TORCH: Final = re.compile(r"[\\/]torch[\\/]")


def unattributed_high(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when, start-up aside, enough time is unattributed to matter and enough samples say where it went."""
    yield from _in_no_span(recording, report)
    yield from _in_stages(recording, report)


def _in_no_span(recording: Recording, report: Report) -> Iterator[Finding]:
    drilled = next((part for part in report.drilldown or () if part.part == UNATTRIBUTED), None)
    if drilled is None:
        return
    startup = report.ledger.startup_seconds
    running, seconds = training_seconds(report), drilled.seconds - late_imports(report)
    if seconds < SMALLEST_SECONDS or seconds <= SMALLEST_SHARE * running:
        return
    lines = [line for line in own_lines(drilled) if line.seconds >= SMALLEST_PLACE * seconds]
    if drilled.samples < FEWEST_SAMPLES or not lines:
        return
    after = " after start-up" if startup else ""
    share = seconds / running
    spot = spot_of(recording, drilled)
    lines = sorted(lines, key=lambda line: line not in spot.lines)[:PLACES_NAMED]  # the gain is about the spot
    _, _, most = together(drilled, spot.lines)
    yield Finding(
        rule=RULE,
        severity=_loudness(spot, spot.seconds / running) if _is_backed(recording, report, spot) else "info",
        title=(
            f"{format_percent(share)} of the time{after} ({format_duration(seconds)}) is in no span"
            f"{_mostly(spot, seconds)}"
        ),
        evidence={
            "phases": [UNATTRIBUTED],
            "unattributed_seconds": seconds,
            "unattributed_share": share,
            "startup_seconds": startup,
            "samples": drilled.samples,
            "lines": evidence_of(lines, PLACES_NAMED),
        },
        where=places(lines, PLACES_NAMED),
        gain=replace(gain_if_free(report, spot.seconds), high=gain_if_free(report, most).high),
        cure=_cure(recording, spot, lines[0]),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


@dataclass(frozen=True, slots=True)
class _Share:
    """What one spot has of a stage: its lines, and the seconds that they took together, likely and with both ends."""

    part: str
    stage: str
    stage_seconds: float
    samples: int
    spot: Spot
    lines: tuple[LineEntry, ...]
    seconds: float
    least: float
    most: float


def _in_stages(recording: Recording, report: Report) -> Iterator[Finding]:
    """The largest spot of each stage. One finding where they are the same: a loop may go round in both."""
    found = [[*_shares(recording, report, stage, part)] for stage, part in _STAGES.items()]
    largest = [max(shares, key=lambda share: share.spot.seconds) for shares in found if shares]
    for spot in dict.fromkeys(_identity(share.spot) for share in largest):
        yield from _in_stage(
            recording, report, [share for shares in found for share in shares if _identity(share.spot) == spot]
        )


def _identity(spot: Spot) -> object:
    line = spot.lines[0]
    return (line.file, line.function, line.line if spot.in_loop else 0, spot.loop)


def _shares(recording: Recording, report: Report, stage: str, part: str) -> Iterator[_Share]:
    drilled = part_named(report, part)
    if drilled is None or drilled.samples < FEWEST_SAMPLES:
        return
    own = sum(entry.self_seconds for entry in main_operations(report) if entry.path[-1] == stage)
    if own < MOSTLY * drilled.seconds:
        return
    for spot in spots_of(recording, drilled):
        lines = tuple(line for line in spot.lines if spot.loop is not None or not _is_torchs(line))
        if lines:  # else it is all torch's
            yield _Share(part, stage, own, drilled.samples, spot, lines, *together(drilled, lines))


def _in_stage(recording: Recording, report: Report, shares: list[_Share]) -> Iterator[Finding]:
    running, first = training_seconds(report), max(shares, key=lambda share: share.seconds)
    seconds, least = sum(share.seconds for share in shares), sum(share.least for share in shares)
    spot, lines = first.spot, first.lines
    smallest = SMALLEST_LINE if spot.in_loop else SMALLEST_FUNCTION
    if running <= 0 or least < smallest * running or seconds < SMALLEST_SECONDS:
        return
    yield from Claim(
        RULE,
        f"{format_percent(seconds / running)} of the time ({format_duration(seconds)}) is {_where(spot, lines[0])}, in "
        "no span of its own",
        Saving(0.0, sum(share.most for share in shares)),
        places(lines),
        _cure(recording, spot, lines[0]),
        {
            "phases": [share.part for share in shares],
            "stages": {share.stage: share.stage_seconds for share in shares},
            "spot_seconds": seconds,
            "spot_low_seconds": least,
            "share_of_training": seconds / running,
            "samples": sum(share.samples for share in shares),
            "lines": evidence_of(lines),
        },
        at_most=_loudness(spot, seconds / running),
    ).findings(report)


def _where(spot: Spot, line: LineEntry) -> str:
    if spot.loop is None:
        return f"at line {line.line} in {line.function}"
    if spot.loop.first == spot.loop.last:
        return f"in the loop at line {spot.loop.first} in {line.function}"
    return f"in the loop at lines {spot.loop.first} to {spot.loop.last} in {line.function}"


def _loudness(spot: Spot, share: float) -> Severity:
    """Lines of a loop share its time unevenly, and acting in NumPy has no span: only most of the run is one line's."""
    return "info" if spot.in_loop and share < MOST_OF_RUN else "warning"


def _is_backed(recording: Recording, report: Report, spot: Spot) -> bool:
    """Whether a spot is known to be more than the program's work itself.

    Of a program of which nothing was recognised all time is in no span. There only what has a cure is worth a warning,
    and that of a loop where it is not the one that everything runs in.
    """
    if any(phase_named(report, phase) is not None for phase in TRAINING):
        return True
    line = spot.lines[0]
    remedy = remedy_of(recording, line, in_loop=False, alone=False)
    shares = shares_of_functions(open_account(recording.main), UNATTRIBUTED)
    return remedy is not None and (remedy != LOOP or shares.get((line.file, line.function), 0.0) < ENTRY_SHARE)


def _is_torchs(line: LineEntry) -> bool:
    return 2 * sum(call.seconds for call in line.calling if _TORCH.search(call.file)) > line.seconds


def _mostly(spot: Spot, seconds: float) -> str:
    """The spot in the title, where it is what the time in no span went to."""
    return f", most of it {_where(spot, spot.lines[0])}" if 2 * spot.seconds > seconds else ""


def _cure(recording: Recording, spot: Spot, line: LineEntry) -> str:
    known = remedy_of(recording, line, in_loop=spot.loop is not None, alone=spot.in_loop and spot.loop is None)
    return (
        f"{named(line)}: {known or _UNKNOWN}. A span around it, "
        f'`with rlprof.profile("{_span_name(line.function)}", phase=...):` with the phase it belongs to, '
        "gives its cost a name, and the other rules can see it"
    )


def _span_name(function: str) -> str:
    return re.sub(r"\W+", "_", function.rsplit(".", 1)[-1]).strip("_") or "work"
