"""`list-to-tensor`: tensors are built from lists, which torch walks through element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.sites import FROM_LISTS, Site, lines_of, most_of, user_sites
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "list-to-tensor"
PLACES_NAMED: Final = 5
#: Of the time of all such lines: a smaller part is not worth a line of the finding.
SMALLEST_PLACE: Final = 0.05
#: Making the list is on the same line as a rule, and goes with it; not where the call is a lesser part of the line.
SMALLEST_OF_LINE: Final = 0.25


def list_to_tensor(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when such calls from the user's lines take time that matters; each of them was timed."""
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
        f"{first.place.file}:{first.place.line} ({format_duration(first.seconds)}): build the array first, "
        "`torch.from_numpy(np.stack(list_of_arrays))` or `np.array(list_of_numbers, np.float32)`; better still keep "
        "transitions in arrays that are there from the beginning and take rows, `torch.from_numpy(states[rows])`",
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


def _makes_the_list(report: Report, site: Site) -> bool:
    return site.seconds >= SMALLEST_OF_LINE * sum(line.seconds for line in lines_of(report, site))
