"""Start-up: the unattributed time before training began. Modules are loaded in it, environments and networks built.

Training begins with the first span of the lane that is not side work or a transfer: programs log their settings, load a
checkpoint and move their networks before that. Nor does a reset begin it, which many programs call before they build
their networks, nor a forward pass or a word with the environments' workers where anything else is known: networks are
asked once as they are built, and vector environments for their render mode. Spans without a phase begin
it only where no span has one. Recordings hold slices of about half a second, so the slice in which it began is divided:
exactly where the program's own mark of an iteration tells the moment, else as the rest of the run is divided into
unattributed time and time in spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import Account, unattributed_ns
from rlprof.analyse.slices import ROOT, LaneSlices
from rlprof.model.phases import OTHER, UNATTRIBUTED, category_of
from rlprof.model.recording import FloatColumn

#: Where a program may be before it trains.
_BEFORE_TRAINING: Final = frozenset({"side work", "transfer"})
#: What building asks for, too; it begins the training only where nothing else is known to.
_ALSO_BUILDING: Final = frozenset({"env.reset", "env.ipc", "policy.forward"})


@dataclass(frozen=True, slots=True)
class Startup:
    """How much of the root's time in each slice was start-up, from 0 to 1, and how much that is in all.

    `in_spans_ns` is what passed in spans, by phase, in the slices before that in which training began.
    """

    share: FloatColumn
    nanoseconds: float
    in_spans_ns: Mapping[str, float]


def startup_of(account: Account, slices: LaneSlices) -> Startup | None:
    """The start-up of a process; None where it cannot be told from training, or training never began."""
    begun = _working(slices) > 0
    if len(slices) < 2 or not begun.any():
        return None
    first = int(np.argmax(begun))
    root = slices.of(ROOT)
    share = np.zeros(len(slices), np.float64)
    share[:first] = 1.0
    if root[first] > 0:
        share[first] = min(max(_before(account, slices, first) / root[first], 0.0), 1.0)
    inside = float((share * root).sum())
    spans = {part: float(own[:first].sum()) for part, own in slices.own_ns.items() if part not in (ROOT, UNATTRIBUTED)}
    free = min(inside + _before_the_lane(account, slices), max(unattributed_ns(account), 0.0))
    return Startup(share, free, spans)


def _working(slices: LaneSlices) -> FloatColumn:
    """The time in spans that belong to training, by slice."""
    total, building, other = (np.zeros(len(slices), np.float64) for _ in range(3))
    for part, own in slices.own_ns.items():
        if part == OTHER:
            other += own
        elif part in _ALSO_BUILDING:
            building += own
        elif part not in (ROOT, UNATTRIBUTED) and category_of(part) not in _BEFORE_TRAINING:
            total += own
    # Spans without a phase tell nothing where others do: workers are started in one, before networks are built.
    return next((each for each in (total, building) if each.any()), other)


def _before(account: Account, slices: LaneSlices, first: int) -> float:
    """The root's time before training, within the slice in which it began."""
    turns = account.process.iterations.start_ns
    start, end = int(slices.start_ns[first]), int(slices.end_ns[first])
    if slices.of(UNATTRIBUTED)[first] > slices.of(ROOT)[first] and len(turns) and start <= int(turns[0]) < end:
        return min(float(turns[0] - start), float(slices.of(ROOT)[first]))
    covered = sum((own for part, own in slices.own_ns.items() if part not in (ROOT, UNATTRIBUTED)), np.zeros(1))
    free = slices.of(UNATTRIBUTED)
    later_covered, later_free = float(covered[first + 1 :].sum()), float(free[first + 1 :].sum())
    if later_covered <= 0:
        return 0.0
    return float(free[first] - covered[first] * later_free / later_covered)


def _before_the_lane(account: Account, slices: LaneSlices) -> float:
    """What passed before the thread that trains was there: nobody's time in the slices."""
    if account.lane is None or account.lane.is_main:
        return 0.0
    rows = np.isin(account.process.windows.path, np.asarray(account.lane_paths, np.int64))
    if not rows.any():
        return 0.0
    late = int(account.process.windows.start_ns[rows].min()) - account.process.start_ns
    return float(min(max(late, 0), max(account.wall_ns - account.lane_raw_ns, 0)))
