"""`logging-cost`: writing down what happens takes a part of the run that matters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import (
    collected_in,
    evidence_of,
    main_operations,
    named,
    outermost,
    own_lines,
    part_named,
    places,
    seconds_of,
)
from rlprof.advise.sites import SYNCS, user_sites
from rlprof.advise.spots import loop_functions
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, LineEntry, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "logging-cost"
LOG: Final = "log"
FEWEST_CALLS: Final = 10
#: Where the rest of a line that logs may be booked: making the record, formatting what it says.
_BESIDE: Final = (UNATTRIBUTED, "other")
#: What is logged may be arrays; work on them is not logging.
_ARRAYS: Final = re.compile(r"[\\/](torch|numpy)[\\/]")


def logging_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when logging is repeated and takes time, that of reading tensors for it left out."""
    operations = outermost(main_operations(report), LOG)
    calls = sum(entry.calls for entry in operations)
    lines = own_lines(part_named(report, LOG))
    if calls < FEWEST_CALLS or not lines:
        return
    reading = sum(site.seconds for site in user_sites(recording, report, SYNCS) if site.mostly_in(LOG))
    beside, beside_most = _beside(recording, report, lines)
    collecting = collected_in(report, operations)
    seconds = max(seconds_of(report, LOG) + collecting - reading, 0.0)
    steps = report.throughput.env_steps
    each = f", {calls / steps:.2g} for each env step" if steps else ""
    names = [entry.path[-1] for entry in sorted(operations, key=lambda entry: -entry.total_seconds)][:3]
    yield from Claim(
        RULE,
        f"{format_count(calls)} calls that log{each}: {format_duration(seconds + beside)}",
        Saving(0.0, seconds + beside_most),
        places(lines),
        f"{named(lines[0])}: add values up and write one row for each episode or every few hundred steps; let the file "
        "collect rows before it writes (no `flush()` after each, `buffering=` of `open`, "
        "`logging.handlers.MemoryHandler`, `SummaryWriter(flush_secs=60)`); a level that is not written needs no "
        'formatting: pass arguments (`logger.debug("%s", x)`) and raise the level',
        {
            "phases": [LOG, *([UNATTRIBUTED] if beside else []), *(["gc"] if collecting else [])],
            "operations": names,
            "calls": calls,
            "calls_per_env_step": calls / steps if steps else None,
            "log_seconds": seconds,
            "seconds_beside": beside,
            "lines": evidence_of(lines),
        },
    ).findings(report)


def _beside(recording: Recording, report: Report, lines: list[LineEntry]) -> tuple[float, float]:
    """Seconds of the same functions outside of what was timed, and the most it can be.

    Where the training loop itself logs, or where that is not known, only lines that do count, with the same library.
    """
    loops = loop_functions(recording)
    functions = {(line.file, line.function) for line in lines} - loops if loops else set()
    spots = {(line.file, line.line) for line in lines}
    files = {call.file for line in lines for call in line.calling if not _ARRAYS.search(call.file)}
    seconds = most = 0.0
    for line in (line for name in _BESIDE for line in own_lines(part_named(report, name))):
        inside = sum(call.seconds for call in line.calling if call.file in files)  # of the largest, which are listed
        on_line = (line.file, line.line) in spots and inside > line.seconds / 4
        if on_line or (line.file, line.function) in functions:
            seconds += line.seconds
            most += line.high_seconds
    return seconds, most
