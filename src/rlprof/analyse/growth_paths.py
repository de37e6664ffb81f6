"""Which operation a growing cost is in: the path of the part whose own time per env step rose most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlprof.analyse.growth import Growth, thirds_of
from rlprof.analyse.ledger import NS_PER_SECOND, Account
from rlprof.analyse.pace import Pace, part_by_path
from rlprof.analyse.tree import is_structure, names_of
from rlprof.model.recording import IntColumn


@dataclass(frozen=True, slots=True)
class GrownPath:
    """An operation in the first and in the last third of the run, by its own time."""

    names: tuple[str, ...]
    per_call: tuple[float, float]
    calls_per_step: tuple[float, float]

    @property
    def rise(self) -> float:
        """Per env step."""
        return self.per_call[1] * self.calls_per_step[1] - self.per_call[0] * self.calls_per_step[0]


def grown_path(account: Account, pace: Pace, growth: Growth) -> GrownPath | None:
    """The operation that rose most; None where the part has none, or its calls were not timed one by one."""
    seen = pace.since(growth.since)
    names, parts = names_of(account.process, account.tree), part_by_path(account)
    pieces = thirds_of(seen.steps)
    thirds = [(int(seen.start_ns[rows[0]]), int(seen.end_ns[rows[-1]])) for rows in pieces]
    steps = [float(seen.steps[rows].sum()) for rows in pieces]
    found = []
    for identity in account.lane_paths:
        path, stats = account.process.paths[identity], account.process.stats.get(identity)
        if parts[identity] != growth.part or is_structure(path) or stats is None or stats.untimed:
            continue
        rows = np.flatnonzero(account.process.windows.path == identity)
        first, last = (_figures(account, rows, thirds[index], steps[index]) for index in (0, 2))
        found.append(GrownPath(names[identity], (first[0], last[0]), (first[1], last[1])))
    return max(found, key=lambda path: path.rise, default=None)


def _figures(account: Account, rows: IntColumn, between: tuple[int, int], steps: float) -> tuple[float, float]:
    """Seconds per call and calls per env step."""
    table = account.process.windows
    inside = rows[(table.end_ns[rows] > between[0]) & (table.end_ns[rows] <= between[1])]
    own = float(np.maximum(table.self_ns[inside] - table.charged_ns[inside], 0).sum()) / NS_PER_SECOND
    calls = float(table.count[inside].sum())
    return own / calls if calls > 0 else 0.0, calls / steps if steps > 0 else 0.0
