"""`unattributed-high`: much of the run is in no span. The stack samples say which lines it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import gain_if_free, training_seconds
from rlprof.advise.verify import run_again
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, LineEntry, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "unattributed-high"
SMALLEST_SHARE: Final = 0.10
SMALLEST_SECONDS: Final = 1.0
FEWEST_SAMPLES: Final = 20
PLACES_NAMED: Final = 5
#: A place with a smaller part of the samples than this is chance.
SMALLEST_PLACE: Final = 0.05


def unattributed_high(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when, start-up aside, enough time is unattributed to matter and enough samples say where it went."""
    drilled = next((part for part in report.drilldown or () if part.part == UNATTRIBUTED), None)
    if drilled is None:
        return
    startup = report.ledger.startup_seconds
    running = training_seconds(report)
    if drilled.seconds < SMALLEST_SECONDS or drilled.seconds <= SMALLEST_SHARE * running:
        return
    named = [line for line in drilled.lines if line.own and line.seconds >= SMALLEST_PLACE * drilled.seconds]
    named = named[:PLACES_NAMED]
    if drilled.samples < FEWEST_SAMPLES or not named:
        return
    after = " after start-up" if startup else ""
    share = drilled.seconds / running
    yield Finding(
        rule=RULE,
        severity="warning",
        title=f"{format_percent(share)} of the time{after} ({format_duration(drilled.seconds)}) is in no span",
        evidence={
            "phases": [UNATTRIBUTED],
            "unattributed_seconds": drilled.seconds,
            "unattributed_share": share,
            "startup_seconds": startup,
            "samples": drilled.samples,
            "lines": [_evidence(line) for line in named],
        },
        where=tuple(Place(line.file, line.line, line.function) for line in named),
        gain=gain_if_free(report, sum(line.seconds for line in named)),
        cure=_cure(named[0]),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _evidence(line: LineEntry) -> dict[str, object]:
    return {
        "file": line.file,
        "line": line.line,
        "function": line.function,
        "samples": line.samples,
        "estimated_seconds": line.seconds,
        "low_seconds": line.low_seconds,
        "high_seconds": line.high_seconds,
        "calling": [call.function for call in line.calling],
    }


def _cure(line: LineEntry) -> str:
    below = f", mostly in {line.calling[0].function}" if line.calling else ""
    return (
        f"put a span around the work at {line.file}:{line.line} (in {line.function}{below}), about "
        f"{format_duration(line.seconds)} of it: "
        f'`with rlprof.profile("{_span_name(line.function)}", phase=...):` with the phase it belongs to; '
        "then its cost has a name and the other rules can see it"
    )


def _span_name(function: str) -> str:
    return re.sub(r"\W+", "_", function.rsplit(".", 1)[-1]).strip("_") or "work"
