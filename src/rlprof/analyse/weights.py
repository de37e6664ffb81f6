"""How much time each stack sample of the lane stands for.

Samples come at a steady rate only where the interpreter lets the sampler in: a call that holds its lock for a second is
seen once and not a hundred times. So a sample stands for its share of the time around it, which the spans measured, and
not for its share of the whole run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND, Account, unattributed_ns
from rlprof.analyse.places import Sights
from rlprof.analyse.slices import ROOT, LaneSlices, numbered_parts
from rlprof.analyse.startup import Startup
from rlprof.model.phases import STARTUP, UNATTRIBUTED
from rlprof.model.recording import FloatColumn, IntColumn, SampleTable

#: Neighbouring slices are taken together until a part has this much time in them: enough for some fifty samples.
AROUND_NS: Final = 0.5e9


@dataclass(frozen=True, slots=True)
class WeightedSamples:
    """The samples of one part of the ledger. `seconds` is what each row's samples stand for, together."""

    part: str
    frame: IntColumn
    count: IntColumn
    seconds: FloatColumn
    total_seconds: float  # of the part; what the samples do not stand for passed without one


@dataclass(frozen=True, slots=True)
class _Rows:
    """Samples with the slice they fall in, and the part of them that counts."""

    frame: IntColumn
    count: IntColumn
    index: IntColumn
    counted: FloatColumn


def weighted_samples(account: Account, slices: LaneSlices, startup: Startup | None) -> Iterator[WeightedSamples]:
    """Each part of the ledger that has time, with its samples; start-up and the rest of the unattributed time first."""
    seconds = part_seconds(account, startup)
    timed = account.samples.end_ns is not None and len(slices) > 0
    rows = _timed(account, slices, startup) if timed else _untimed(account, startup)
    empty = np.empty(0, np.int64)
    none = _Rows(empty, empty, empty, np.empty(0, np.float64))
    for part, total in seconds.items():
        if total <= 0:
            continue
        found = rows.get(part, none)
        time_ns = _time_by_slice(part, slices, startup) if timed else np.full(1, total * NS_PER_SECOND)
        # A thread that was not there was not sampled either.
        absent = (account.wall_ns - account.lane_raw_ns) / NS_PER_SECOND if part == UNATTRIBUTED else 0.0
        weights = _weights(found, time_ns, max(total - max(absent, 0.0), 0.0))
        yield WeightedSamples(part, found.frame, found.count, weights, total)


def part_seconds(account: Account, startup: Startup | None) -> dict[str, float]:
    """The seconds of each part: they add up to the wall clock less the overhead."""
    outside = max(unattributed_ns(account), 0.0)
    before = startup.nanoseconds if startup is not None else 0.0
    parts = {STARTUP: before / NS_PER_SECOND, UNATTRIBUTED: max(outside - before, 0.0) / NS_PER_SECOND}
    for identity in account.lane_paths:
        phase = account.phases[identity]
        if phase != UNATTRIBUTED:
            parts[phase] = parts.get(phase, 0.0) + account.self_ns[identity] / NS_PER_SECOND
    return parts


def _time_by_slice(part: str, slices: LaneSlices, startup: Startup | None) -> FloatColumn:
    if startup is None or part not in (STARTUP, UNATTRIBUTED):
        return slices.of(part)
    before = startup.share * slices.of(ROOT)
    return before if part == STARTUP else slices.of(UNATTRIBUTED) - before


def _timed(account: Account, slices: LaneSlices, startup: Startup | None) -> dict[str, _Rows]:
    table = account.samples
    assert table.end_ns is not None
    index = np.minimum(np.searchsorted(slices.end_ns, table.end_ns), len(slices) - 1)
    rows: dict[str, list[_Rows]] = {}
    for part, chosen in _chosen(account, table).items():
        picked = _Rows(table.frame[chosen], table.count[chosen], index[chosen], np.ones(int(chosen.sum())))
        if part == ROOT and startup is not None:
            before = _before(picked, startup.share[picked.index])
            rows.setdefault(STARTUP, []).append(_only(picked, before))
            picked = _only(picked, 1.0 - before)
        rows.setdefault(UNATTRIBUTED if part == ROOT else part, []).append(picked)
    return {part: _joined(pieces) for part, pieces in rows.items()}


def _before(rows: _Rows, share: FloatColumn) -> FloatColumn:
    """How far each row is start-up. In the slice that is both, stacks that come again later are not."""
    both = (share > 0) & (share < 1)
    later = np.isin(rows.frame, rows.frame[share <= 0])
    if not (both & later).any() or not (both & ~later).any():
        return share
    return np.where(both, np.where(later, 0.0, 1.0), share)


def _untimed(account: Account, startup: Startup | None) -> dict[str, _Rows]:
    """Without times, what of the unattributed time was start-up is known of imports alone."""
    table = account.samples
    sights = Sights(table.frames)
    rows: dict[str, list[_Rows]] = {}
    for part, chosen in _chosen(account, table).items():
        frame, count = table.frame[chosen], table.count[chosen]
        picked = _Rows(frame, count, np.zeros(len(frame), np.int64), np.ones(len(frame)))
        if part == ROOT and startup is not None:
            loading = np.array([sights.is_importing(leaf) for leaf in frame.tolist()], np.float64)
            rows.setdefault(STARTUP, []).append(_only(picked, loading))
            picked = _only(picked, 1.0 - loading)
        rows.setdefault(UNATTRIBUTED if part == ROOT else part, []).append(picked)
    return {part: _joined(pieces) for part, pieces in rows.items()}


def _chosen(account: Account, table: SampleTable) -> Mapping[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Which samples were taken in which part."""
    parts, number = numbered_parts(account, table.path)
    return {part: number == index for index, part in enumerate(parts)}


def _only(rows: _Rows, counted: FloatColumn) -> _Rows:
    some = counted > 0
    return _Rows(rows.frame[some], rows.count[some], rows.index[some], (rows.counted * counted)[some])


def _joined(pieces: list[_Rows]) -> _Rows:
    return _Rows(
        *(np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("frame", "count", "index", "counted"))
    )


def _weights(rows: _Rows, time_ns: FloatColumn, seconds: float) -> FloatColumn:
    """What each row stands for: the time of its neighbourhood, divided among the samples there."""
    whole = float(time_ns.sum())
    if whole <= 0 or not len(rows.index):
        return np.zeros(len(rows.index), np.float64)
    place = ((np.cumsum(time_ns) - time_ns / 2) // AROUND_NS).astype(np.int64)
    time = np.bincount(place, time_ns)
    here = place[rows.index]
    samples = np.bincount(here, rows.count * rows.counted, len(time))
    each = np.divide(time, samples, out=np.zeros(len(time)), where=samples > 0)
    # The ledger's seconds are the corrected ones: the slices only say how they spread over the run.
    return np.asarray(each[here] * rows.count * rows.counted * (seconds / whole), np.float64)
