"""`loader-workers`: a DataLoader starts its worker processes again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import evidence_of, main_operations, named, own_lines, part_named, places
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Operation, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "loader-workers"
START, NEXT, STOP = "dataloader.start", "dataloader.next", "dataloader.stop"
#: One loader for training and one for evaluation start their workers once each.
FEWEST_STARTS: Final = 3
#: What starting and ending them must have of all the time of loaders: else the batches themselves are dear.
SMALLEST_SHARE: Final = 0.2


def loader_workers(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where workers are started for few batches each, by the time that starting and ending them takes."""
    operations = main_operations(report)
    starts = sum(entry.calls for entry in operations if entry.path[-1] == START)
    batches = sum(entry.calls for entry in operations if entry.path[-1] == NEXT)
    starting, ending = _seconds(operations, START), _seconds(operations, STOP)
    loading = starting + ending + _seconds(operations, NEXT)
    lines = own_lines(part_named(report, "buffer.sample"))
    if starts < FEWEST_STARTS or starting + ending < SMALLEST_SHARE * loading or not lines:
        return
    each = batches / starts
    yield from Claim(
        RULE,
        f"worker processes of a DataLoader are started {format_count(starts)} times, for {each:.0f} batches each: "
        f"{format_duration(loading)}",
        Saving(0.0, loading),
        places(lines),
        f"{named(lines[0])}: what is in memory already needs no workers: `order = torch.randperm(len(data))`, then "
        "`data[indices] for indices in order.split(batch_size)`, or at least `num_workers=0`; where a batch has to be "
        "read or decoded, make the DataLoader once, outside of the loop, with `persistent_workers=True`",
        {
            "phases": ["buffer.sample"],
            "starts": starts,
            "batches_per_start": each,
            "seconds_starting": starting,
            "seconds_ending": ending,
            "seconds_loading": loading,
            "lines": evidence_of(lines),
        },
    ).findings(report)


def _seconds(operations: list[Operation], name: str) -> float:
    """Seconds of an operation without what is inside it: workers are ended inside the call after the last batch."""
    return sum(entry.self_seconds for entry in operations if entry.path[-1] == name)
