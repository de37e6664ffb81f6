"""The lane's time in each slice of the run, by what it counts towards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import Account
from rlprof.analyse.tree import is_root
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import FloatColumn, IntColumn

#: The time of the thread's root: unattributed, and outside every iteration.
ROOT: Final = ""


@dataclass(frozen=True, slots=True)
class LaneSlices:
    """One row per slice. `own_ns` is by phase, and by ROOT for the part of the unattributed time outside iterations.

    The times are what the clock said less what rlprof's helpers took; the cost of single spans is still in them.
    """

    start_ns: IntColumn
    end_ns: IntColumn
    own_ns: Mapping[str, FloatColumn]

    def __len__(self) -> int:
        return len(self.end_ns)

    def of(self, part: str) -> FloatColumn:
        found = self.own_ns.get(part)
        return found if found is not None else np.zeros(len(self), np.float64)


def part_of(account: Account, identity: int) -> str:
    """What a path's own time counts towards."""
    return ROOT if is_root(account.process.paths[identity]) else account.phases[identity]


def numbered_parts(account: Account, paths: IntColumn) -> tuple[list[str], IntColumn]:
    """All parts of the lane, and for each of these paths the number of its part; -1 where it is not the lane's."""
    parts = sorted({part_of(account, identity) for identity in account.lane_paths})
    number = np.full(max(account.process.paths, default=0) + 1, -1, np.int64)
    for identity in account.lane_paths:
        number[identity] = parts.index(part_of(account, identity))
    known = (paths >= 0) & (paths < len(number))
    return parts, np.where(known, number[np.where(known, paths, 0)], -1)


def lane_slices(account: Account) -> LaneSlices:
    """The slices of a process, from its windows."""
    table = account.process.windows
    parts, part = numbered_parts(account, table.path)
    rows = part >= 0
    ends, index = np.unique(table.end_ns, return_inverse=True)
    starts = np.full(len(ends), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(starts, index, table.start_ns)
    own = np.maximum(table.self_ns - table.charged_ns, 0).astype(np.float64)
    cells = np.bincount(part[rows] * len(ends) + index[rows], own[rows], len(parts) * len(ends)).astype(np.float64)
    by_part: dict[str, FloatColumn] = dict(zip(parts, cells.reshape(len(parts), len(ends)), strict=True))
    if ROOT in by_part:
        inside = by_part.get(UNATTRIBUTED)
        by_part[UNATTRIBUTED] = by_part[ROOT] if inside is None else by_part[ROOT] + inside
    return LaneSlices(starts, ends, by_part)
