"""`list-to-tensor`: tensors are built from lists, which torch walks through element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import evidence_of, own_lines, places, together
from rlprof.advise.remedies import is_plain
from rlprof.advise.sites import FROM_LISTS, Site, lines_of, most_of, user_sites
from rlprof.analyse.noted_lines import NotedLines
from rlprof.model.phases import STARTUP
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, LineEntry, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "list-to-tensor"
PLACES_NAMED: Final = 5
#: Of the time of all such lines: a smaller part is not worth a line of the finding.
SMALLEST_PLACE: Final = 0.05
#: Making the list is on the same line as a rule, and goes with it; not where the call is a lesser part of the line.
SMALLEST_OF_LINE: Final = 0.25
#: Of the run, surely: time on such lines may be that of making the list, which the cure leaves.
SMALLEST_SAMPLED: Final = 0.05
_CURE: Final = (
    "build the array first, `torch.from_numpy(np.stack(list_of_arrays))` or `np.array(list_of_numbers, np.float32)`; "
    "better still keep transitions in arrays that are there from the beginning and take rows, "
    "`torch.from_numpy(states[rows])`"
)


def list_to_tensor(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when such calls from the user's lines take time that matters."""
    yield from _by_calls(recording, report)
    yield from _by_old_types(recording, report)


def _by_calls(recording: Recording, report: Report) -> Iterator[Finding]:
    """Calls of `torch.tensor` and its like; each of them was timed."""
    sites = user_sites(recording, report, FROM_LISTS)
    seconds = sum(site.seconds for site in sites)
    named = [site for site in sites if site.seconds >= SMALLEST_PLACE * seconds][:PLACES_NAMED]
    if not named:
        return
    first, calls = named[0], sum(site.calls for site in sites)
    most = max(most_of(report, [site for site in sites if _makes_the_list(report, site)]), seconds)
    yield from Claim(
        RULE,
        f"{format_count(calls)} tensors are built from lists, {format_duration(seconds)} in all",
        Saving(0.0, most),
        tuple(site.place for site in named),
        f"{first.place.file}:{first.place.line} ({format_duration(first.seconds)}): {_CURE}",
        {
            "phases": sorted({phase for site in named for phase in site.calls_by_phase}),
            "calls": calls,
            "seconds": seconds,
            "line_seconds_at_most": most,
            "lines": [
                {"file": s.place.file, "line": s.place.line, "calls": s.calls, "seconds": s.seconds} for s in named
            ],
        },
    ).findings(report)


def _by_old_types(recording: Recording, report: Report) -> Iterator[Finding]:
    """`torch.FloatTensor` and its like are types in C that nobody can time; the source tells where they are called."""
    noted, running = NotedLines(recording, "old_tensors"), training_seconds(report)
    found: list[LineEntry] = []
    phases, seconds, least, most = [], 0.0, 0.0, 0.0
    for part in report.drilldown or ():
        lines = [line for line in own_lines(part) if noted.has(line.file, line.line) and is_plain(line)]
        if part.part == STARTUP or not lines:
            continue
        mine = together(part, lines)
        seconds, least, most = seconds + mine[0], least + mine[1], most + mine[2]
        phases.append(part.part)
        found += lines
    if not found or least < SMALLEST_SAMPLED * running:
        return
    found.sort(key=lambda line: -line.seconds)
    first = found[0]
    yield from Claim(
        RULE,
        f"making tensors of lists by their type, as in `torch.FloatTensor(rows)`, takes {format_duration(seconds)}",
        Saving(0.0, most),
        places(found, PLACES_NAMED),
        f"{first.file}:{first.line} ({format_duration(first.seconds)}) makes a tensor of a list, element by element: "
        f"{_CURE}",
        {
            "phases": phases,
            "seconds": seconds,
            "low_seconds": least,
            "line_seconds_at_most": most,
            "lines": evidence_of(found, PLACES_NAMED),
        },
        at_most="warning",
    ).findings(report)


def _makes_the_list(report: Report, site: Site) -> bool:
    return site.seconds >= SMALLEST_OF_LINE * sum(line.seconds for line in lines_of(report, site))
