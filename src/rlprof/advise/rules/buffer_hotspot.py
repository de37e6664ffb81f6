"""`buffer-hotspot`: a buffer is filled or sampled item by item, in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import part_named
from rlprof.advise.spots import loop_functions
from rlprof.analyse.ledger import open_account
from rlprof.analyse.lines import interval
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.places import Spot
from rlprof.analyse.stacks import callers_with, name_of, outermost_with
from rlprof.model.own_files import is_users
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Drilldown, Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "buffer-hotspot"
PHASES: Final = ("buffer.sample", "buffer.add")
FEWEST_SAMPLES: Final = 30
#: What the loop must have of the phase, by the low end of its interval, and of the run.
SMALLEST_SHARE: Final = 0.5
SMALLEST_OF_RUN: Final = 0.1
PLACES_NAMED: Final = 3

_ARRAYS: Final = (
    "keep each field in one array of the buffer's size, draw all indices at once and "
    "take them with one `array[indices]` for each field; priorities: `np.searchsorted(np.cumsum(p), draws)`, or a "
    "tree in an array that is walked for the whole batch, level by level; relabel whole batches with `np.where`"
)
_LOADER: Final = (
    "a DataLoader asks its dataset for one item at a time and joins them to a batch. What is in memory needs none: "
    "`for indices in torch.randperm(len(data)).split(batch_size):` and `column[indices]` for each field; or give the "
    "dataset a `__getitems__(indices)`"
)
_FETCH: Final = re.compile(r"[\\/]torch[\\/]utils[\\/]data[\\/]_utils[\\/](fetch|collate)\.py$")
_COLLATE: Final = re.compile(r"[\\/]torch[\\/]utils[\\/]data[\\/]_utils[\\/]collate\.py$")
#: Where the work on one item that is in memory may be seen.
_MEMORY: Final = re.compile(r"[\\/](torch|numpy)[\\/]")


def buffer_hotspot(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where most of a buffer's time passes below a loop of its own code over its items."""
    loops, trains = NotedLines(recording, "item_loops"), loop_functions(recording)

    def goes_through_items(frame: Frame) -> bool:
        return is_users(frame.file) and name_of(frame) not in trains and loops.has(frame.file, frame.line)

    for phase in PHASES:
        part = part_named(report, phase)
        if part is not None and part.samples >= FEWEST_SAMPLES:
            spots, total = outermost_with(open_account(recording.main), phase, goes_through_items)
            yield from _finding(report, part, spots, total, "the loop over items in {} takes", _ARRAYS)
            spots = callers_with(open_account(recording.main), phase, _loads_items)
            yield from _finding(report, part, spots, total, "fetching items one by one in {} takes", _LOADER)


def _loads_items(stack: list[Frame]) -> Frame | None:
    """The line that draws batches from a DataLoader which, at that moment, fetches or joins single items in memory."""
    fetching = next((depth for depth, frame in enumerate(stack) if _FETCH.search(frame.file)), None)
    if fetching is None:
        return None
    below = stack[:fetching]
    if any(not is_users(frame.file) and not _MEMORY.search(frame.file) for frame in below):
        return None  # it reads or decodes
    joins = any(_COLLATE.search(frame.file) for frame in stack)
    if not joins and not (below and below[-1].function.endswith("__getitem__")):
        return None
    return next((frame for frame in stack[fetching:] if is_users(frame.file)), None)


def _finding(
    report: Report, part: Drilldown, spots: dict[Spot, int], total: int, what: str, cure: str
) -> Iterator[Finding]:
    inside, running = sum(spots.values()), training_seconds(report)
    if not inside or running <= 0:
        return
    seen = part.seconds - part.unsampled_seconds
    low, high = interval(inside / total, float(total))
    seconds, most = inside / total * seen, high * seen + part.unsampled_seconds
    if low * seen < SMALLEST_SHARE * part.seconds or seconds < SMALLEST_OF_RUN * running:
        return
    named = sorted(spots, key=lambda spot: -spots[spot])[:PLACES_NAMED]
    first = named[0]
    yield from Claim(
        RULE,
        f"{what.format(first.function)} {format_percent(seconds / part.seconds)} of {part.part} "
        f"({format_duration(seconds)}, {format_percent(seconds / running)} of the time)",
        Saving(0.0, most),
        tuple(Place(spot.file, spot.line, spot.function) for spot in named),
        f"{first.file}:{first.line}: {cure}",
        {
            "phases": [part.part],
            "phase_seconds": part.seconds,
            "loop_seconds": seconds,
            "loop_low_seconds": low * seen,
            "share_of_training": seconds / running,
            "samples": total,
            "lines": [{"file": spot.file, "line": spot.line, "samples": spots[spot]} for spot in named],
        },
    ).findings(report)
