"""How a run has gone up to now, in few enough points to draw: speed, phases and memory on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.over_time import Moment
from rlprof.analyse.throughput import iterating_process
from rlprof.model.phases import PHASES, UNATTRIBUTED
from rlprof.model.recording import Recording
from rlprof.model.report import Report
from rlprof.model.units import BYTES_PER_MB

MOST_POINTS: Final = 200
FEWEST_POINTS: Final = 20
TURNS_IN_A_POINT: Final = 3
#: Phases beyond these are booked together: eyes cannot follow more.
MOST_PHASES: Final = 8
LAST_SECONDS: Final = 10.0
REST: Final = "other phases"


@dataclass(frozen=True, slots=True)
class Point:
    """A stretch of the run: where it ended, and its means."""

    end_s: float
    sps: float | None
    shares: tuple[float, ...]  # in the order of CourseSoFar.phases
    rss_mb: float | None


@dataclass(frozen=True, slots=True)
class CourseSoFar:
    """What the last seconds and the whole run were like, and the way there."""

    phases: tuple[str, ...]
    points: tuple[Point, ...]
    sps_now: float | None
    rss_now_mb: float | None
    shares_now: dict[str, float]
    shares_whole: dict[str, float]

    def now_of(self, phase: str) -> float:
        """A phase's share of the last seconds."""
        return self._of(self.shares_now, phase)

    def whole_of(self, phase: str) -> float:
        """A phase's share of the whole run."""
        return self._of(self.shares_whole, phase)

    def _of(self, shares: dict[str, float], phase: str) -> float:
        if phase != REST:
            return shares.get(phase, 0.0)
        return sum(share for name, share in shares.items() if name not in self.phases)


def course_so_far(recording: Recording, report: Report, moments: Sequence[Moment]) -> CourseSoFar:
    """The course of the main process."""
    recent = last_moments(moments)
    whole = whole_shares(report)
    phases = _drawn_phases(whole, mean_shares(recent))
    rates = [moment.sps for moment in recent if moment.sps is not None]
    samples = recording.main.memory.rss_bytes
    return CourseSoFar(
        phases=phases,
        points=_points(recording, moments, phases),
        sps_now=sum(rates) / len(rates) if rates else None,
        rss_now_mb=float(samples[-1]) / BYTES_PER_MB if len(samples) else None,
        shares_now=mean_shares(recent),
        shares_whole=whole,
    )


def last_moments(moments: Sequence[Moment], seconds: float = LAST_SECONDS) -> list[Moment]:
    """Those of the last seconds that were recorded."""
    return [moment for moment in moments if moment.end_s > moments[-1].end_s - seconds] if moments else []


def mean_shares(moments: Sequence[Moment]) -> dict[str, float]:
    """The mean share of each phase over these moments."""
    sums: dict[str, float] = {}
    for moment in moments:
        for phase, share in moment.shares.items():
            sums[phase] = sums.get(phase, 0.0) + share / len(moments)
    return sums


def whole_shares(report: Report) -> dict[str, float]:
    """The share of each phase in the whole run, and of what is unattributed."""
    shares = {entry.phase: entry.share for entry in report.phases}
    wall = report.ledger.wall_seconds
    shares[UNATTRIBUTED] = report.ledger.unattributed_seconds / wall if wall > 0 else 0.0
    return shares


def _drawn_phases(whole: dict[str, float], now: dict[str, float]) -> tuple[str, ...]:
    """The largest phases, then and now, in an order that does not change while they are drawn."""
    known = {phase: max(whole.get(phase, 0.0), now.get(phase, 0.0)) for phase in {*whole, *now} - {UNATTRIBUTED}}
    largest = sorted(known, key=lambda phase: (-known[phase], phase))[:MOST_PHASES]
    ordered = sorted(largest, key=lambda phase: (PHASES.index(phase) if phase in PHASES else len(PHASES), phase))
    return (*ordered, *([REST] if len(known) > len(ordered) else []), UNATTRIBUTED)


def _points(recording: Recording, moments: Sequence[Moment], phases: tuple[str, ...]) -> tuple[Point, ...]:
    """The moments in at most MOST_POINTS groups of neighbours."""
    if not moments:
        return ()
    edges = np.unique(np.linspace(0, len(moments), _how_many(recording, moments) + 1).astype(np.int64)).tolist()
    groups = [moments[a:b] for a, b in pairwise(edges)]
    resident = _resident_mb(recording, [group[-1].end_s for group in groups])
    return tuple(_point(group, phases, rss) for group, rss in zip(groups, resident, strict=True))


def _how_many(recording: Recording, moments: Sequence[Moment]) -> int:
    """As many points as can be told apart, each over some turns of the loop: within one, speed goes up and down."""
    turning = iterating_process(recording)
    turn_s = float(np.median(turning.iterations.duration_ns)) / NS_PER_SECOND if turning is not None else 0.0
    whole = moments[-1].end_s / (TURNS_IN_A_POINT * turn_s) if turn_s > 0 else len(moments)
    return min(len(moments), MOST_POINTS, max(int(whole), FEWEST_POINTS))


def _point(group: Sequence[Moment], phases: tuple[str, ...], rss_mb: float | None) -> Point:
    rates = [moment.sps for moment in group if moment.sps is not None]
    shares = mean_shares(group)
    rest = sum(share for phase, share in shares.items() if phase not in phases)
    return Point(
        end_s=group[-1].end_s,
        sps=sum(rates) / len(rates) if rates else None,
        shares=tuple(rest if phase == REST else shares.get(phase, 0.0) for phase in phases),
        rss_mb=rss_mb,
    )


def _resident_mb(recording: Recording, ends_s: list[float]) -> list[float | None]:
    """Resident memory as it was last sampled at each of these moments."""
    table = recording.main.memory
    if not len(table.at_ns):
        return [None] * len(ends_s)
    at_s = (table.at_ns - recording.main.start_ns) / NS_PER_SECOND
    last = np.searchsorted(at_s, np.array(ends_s), side="right") - 1
    return [float(table.rss_bytes[row]) / BYTES_PER_MB if row >= 0 else None for row in last.tolist()]
