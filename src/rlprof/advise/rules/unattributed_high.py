"""`unattributed-high`: much of the run is in no span. The stack samples say which lines it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.advise.places import is_importing, users_frame
from rlprof.analyse.ledger import find_lane
from rlprof.analyse.tree import is_structure
from rlprof.model.recording import Process, Recording
from rlprof.model.report import Finding, Gain, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "unattributed-high"
SMALLEST_SHARE: Final = 0.10
SMALLEST_SECONDS: Final = 1.0
FEWEST_SAMPLES: Final = 20
PLACES_NAMED: Final = 5
#: A place with a smaller part of the samples than this is chance.
SMALLEST_PLACE: Final = 0.05
#: Where nearly all time is unattributed the bound has no meaning beyond "large".
LARGEST_RATIO: Final = 100.0


@dataclass(frozen=True, slots=True)
class _Spot:
    place: Place
    samples: int


def unattributed_high(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when there is enough unattributed time to matter and enough samples to say where it went."""
    wall, outside = report.ledger.wall_seconds, report.ledger.unattributed_seconds
    if outside < SMALLEST_SECONDS:  # spares most recordings the reading of their samples
        return
    spots, samples, importing = _spots(recording.main)
    loading = outside * importing / max(samples + importing, 1)
    unattributed = outside - loading
    if unattributed < SMALLEST_SECONDS or unattributed <= SMALLEST_SHARE * wall:
        return
    named = [spot for spot in spots if spot.samples >= SMALLEST_PLACE * samples][:PLACES_NAMED]
    if samples < FEWEST_SAMPLES or not named:
        return
    named_seconds = unattributed * sum(spot.samples for spot in named) / samples
    yield Finding(
        rule=RULE,
        severity="warning",
        title=f"{format_percent(unattributed / wall)} of the time ({format_duration(unattributed)}) is in no span",
        evidence={
            "unattributed_seconds": unattributed,
            "unattributed_share": unattributed / wall,
            "import_seconds": loading,
            "samples": samples,
            "lines": [
                {
                    "file": spot.place.file,
                    "line": spot.place.line,
                    "function": spot.place.function,
                    "samples": spot.samples,
                    "estimated_seconds": unattributed * spot.samples / samples,
                }
                for spot in named
            ],
        },
        where=tuple(spot.place for spot in named),
        gain=_bound(wall, named_seconds),
        cure=_cure(named[0], samples, unattributed),
        changes_learning=False,
        verify=_verify(report.run.command),
    )


def _spots(process: Process) -> tuple[list[_Spot], int, int]:
    """The user's lines on which the lane was sampled outside every working span, all samples taken there, and those
    taken while modules were loading, which no span can help."""
    lane = find_lane(process)
    if lane is None:
        return [], 0, 0
    outside = [path.id for path in process.paths.values() if path.thread == lane.id and is_structure(path)]
    table = process.samples
    rows = np.isin(table.path, np.asarray(outside, dtype=np.int64))
    counts: dict[Place, int] = {}
    importing = 0
    for leaf, count in zip(table.frame[rows].tolist(), table.count[rows].tolist(), strict=True):
        if is_importing(table.frames, leaf):
            importing += count
            continue
        frame = users_frame(table.frames, leaf)
        if frame is not None:
            place = Place(frame.file, frame.line, frame.function)
            counts[place] = counts.get(place, 0) + count
    spots = [_Spot(place, count) for place, count in counts.items()]
    all_samples = int(table.count[rows].sum())
    return sorted(spots, key=lambda spot: spot.samples, reverse=True), all_samples - importing, importing


def _bound(wall: float, seconds: float) -> Gain:
    """Amdahl: what the run would gain if the named lines took no time at all."""
    highest = min(wall / max(wall - seconds, wall / LARGEST_RATIO), LARGEST_RATIO)
    return Gain(sps_ratio=highest, low=1.0, high=highest)


def _cure(spot: _Spot, samples: int, unattributed: float) -> str:
    place = spot.place
    return (
        f"put a span around the work at {place.file}:{place.line} (in {place.function}), about "
        f"{format_duration(unattributed * spot.samples / samples)} of it: "
        f'`with rlprof.profile("{_span_name(place.function)}", phase=...):` with the phase it belongs to; '
        "then its cost has a name and the other rules can see it"
    )


def _span_name(function: str) -> str:
    return re.sub(r"\W+", "_", function.rsplit(".", 1)[-1]).strip("_") or "work"


def _verify(command: str) -> str:
    """The same program again: the finding is gone once at most a tenth is unattributed."""
    if not command:
        return "rlprof run SCRIPT"
    plain = re.sub(r"^\S*python[\d.]*(?:\.exe)?\s+", "", command)
    return plain if re.match(r"^\S*rlprof\s", plain) else f"rlprof run {plain}"
