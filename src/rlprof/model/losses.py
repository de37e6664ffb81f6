"""What a recording counts about itself, and which of those counts mean that something was not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Written by the recorder. What was emitted is either written or dropped, to the last span.
TALLIES: Final = ("spans_emitted", "spans_written", "events_emitted", "iterations")

LOSSES: Final[Mapping[str, str]] = {
    "spans_dropped": "spans that were closed but never written",
    "spans_abandoned": "spans that were thrown away without being closed",
    "spans_folded": "spans nested too deep, booked on the span around them",
    "exits_unmatched": "spans closed that were not open",
    "amounts_refused": "counter amounts that were no finite numbers",
    "iterations_dropped": "iterations counted, but not listed one by one",
    "events_dropped": "single events not logged",
    "rows_dropped": "rows of detail over time, given up while nothing could be written",
}


def losses_of(counts: Mapping[str, int]) -> dict[str, int]:
    """The losses among a recorder's counts, zeros included: a reader may want to see that nothing was lost."""
    dropped = counts.get("spans_emitted", 0) - counts.get("spans_written", 0)
    return {"spans_dropped": dropped, **{name: counts.get(name, 0) for name in LOSSES if name != "spans_dropped"}}
