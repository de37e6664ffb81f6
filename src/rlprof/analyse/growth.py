"""Parts of the ledger that cost more and more: each call of them, and each env step.

A cost that grows is told from what only looks like it:

- longer episodes, or more updates per step once learning has begun, make a run slower and no call of it: a call and an
  env step must both cost more;
- a machine that gets slower slows everything down: costs are held against those of the other parts in the same stretch;
- a jump is no growth: a curve must explain the costs better than two levels do, and they must rise to the end;
- environments may take longer within longer episodes: theirs must outgrow the episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.pace import Pace
from rlprof.analyse.trend import Line, Power, best_powers, kendall_z, left_by_a_curve, left_by_a_step, sen_line
from rlprof.model.phases import OTHER, UNATTRIBUTED
from rlprof.model.recording import FloatColumn, IntColumn

FEWEST_STRETCHES: Final = 6
#: By how much the last third must cost more than the first, and more than the second: still growing.
SMALLEST_FACTOR: Final = 1.4
STILL_GROWING: Final = 1.08
#: One chance in two hundred for a series without a trend.
SURE: Final = 2.58
#: The same series with the machine's pace taken out is noisier: one chance in forty.
LIKELY: Final = 1.96
#: Parts with less of the time are too noisy to be judged, or to be held against.
SMALLEST_PART: Final = 0.03
SMALLEST_OTHER: Final = 0.015
#: What is done per env step may differ by so much before it counts as another kind of work.
SAME_WORK: Final = 1.5
#: Evaluations take longer with better agents, and nobody counts their steps: they cannot be judged.
NOT_JUDGED: Final = frozenset({"evaluate"})
#: What is around other work costs more where there is more of that: only stretches with the same work are compared.
_FRAMES: Final = frozenset({UNATTRIBUTED, OTHER})
#: Work whose calls per env step tell what kind of a stretch it is.
_TELLING: Final = ("policy.forward", "learn.backward", "learn.optimizer", "buffer.sample")


@dataclass(frozen=True, slots=True)
class Growth:
    """One part whose cost grows. Seconds; `power` is of the cost of an env step over the env steps so far."""

    part: str
    factor: float  # the last third of the run against the first, the machine's own pace taken out
    first_per_step: float
    last_per_step: float
    first_per_call: float | None  # None: the part has no calls
    last_per_call: float | None
    line: Line  # of the cost of an env step, per env step
    power: Power
    exponent_low: Power
    exponent_high: Power
    excess_seconds: float  # that the run would not have taken, had the cost stayed at its first level
    since: int  # the first stretch that was looked at
    steps_before: float  # env steps before that


def growing_parts(pace: Pace) -> tuple[Growth, ...]:
    """All parts whose cost grows, those with the largest excess first."""
    found = [growth for part in pace.own_ns if (growth := growth_of(pace, part)) is not None]
    return tuple(sorted(found, key=lambda growth: growth.excess_seconds, reverse=True))


def growth_of(pace: Pace, part: str) -> Growth | None:
    """How a part's cost grows; None where it does not, or nobody can tell."""
    total = sum(float(own.sum()) for own in pace.own_ns.values())
    if part in NOT_JUDGED or float(pace.own_ns[part].sum()) < SMALLEST_PART * total:
        return None
    since = same_work_since(pace) if part in _FRAMES else 0
    seen = pace.since(since)
    if len(seen) < FEWEST_STRETCHES:
        return None
    machine = machine_pace(seen, part)
    counts = [seen.steps]
    if part in seen.calls:
        counts.append(seen.calls[part])
    if not all(bool((count > 0).all()) for count in counts):
        return None
    before = float(pace.steps[:since].sum())
    factor = min(_factor(seen.own_ns[part] / count, machine, seen.steps, before) for count in counts)
    if factor < SMALLEST_FACTOR * _longer_episodes(seen, part):
        return None
    return _described(part, seen, factor, machine, since, before)


def _described(part: str, seen: Pace, factor: float, machine: FloatColumn, since: int, before: float) -> Growth | None:
    per_step = seen.own_ns[part] / NS_PER_SECOND / seen.steps
    steady = per_step / machine
    x = _so_far(seen.steps, before)
    line = sen_line(x, steady)
    if line is None or line.low <= 0:
        return None
    calls = seen.calls.get(part)
    per_call = None if calls is None else seen.own_ns[part] / NS_PER_SECOND / calls / machine
    first, _, last = _levels(steady, seen.steps)
    best, low, high = best_powers(x, steady)
    return Growth(
        part=part,
        factor=factor,
        first_per_step=first,
        last_per_step=last,
        first_per_call=None if per_call is None else _levels(per_call, seen.steps)[0],
        last_per_call=None if per_call is None else _levels(per_call, seen.steps)[2],
        line=line,
        power=best,
        exponent_low=low,
        exponent_high=high,
        excess_seconds=float((np.maximum(per_step - float(steady[0]) * machine, 0.0) * seen.steps).sum()),
        since=since,
        steps_before=before,
    )


def thirds_of(steps: FloatColumn) -> tuple[IntColumn, IntColumn, IntColumn]:
    """The stretches of the first, the second and the last third of all env steps; of the time where one has too few."""
    middle = np.cumsum(steps) - steps / 2
    edges = np.searchsorted(middle, np.array([1.0, 2.0]) / 3.0 * float(steps.sum()))
    rows = np.split(np.arange(len(steps)), edges)
    if min(len(piece) for piece in rows) < 2:
        rows = np.array_split(np.arange(len(steps)), 3)
    return rows[0], rows[1], rows[2]


def _levels(y: FloatColumn, steps: FloatColumn) -> tuple[float, float, float]:
    """What is typical of each third."""
    first, second, third = (float(np.median(y[rows])) for rows in thirds_of(steps))
    return first, second, third


def _factor(y: FloatColumn, machine: FloatColumn, steps: FloatColumn, before: float) -> float:
    """How many times as much the last third costs as the first; 1 where the series does not grow to the end."""
    steady = y / machine
    first, _, third = _levels(steady, steps)
    rises = _rises(y, steps, before) or _rises(steady, steps, before)
    if first <= 0 or kendall_z(steady) < LIKELY or not rises:
        return 1.0
    return third / first


def _rises(y: FloatColumn, steps: FloatColumn, before: float) -> bool:
    _, second, third = _levels(y, steps)
    if third < STILL_GROWING * second or kendall_z(y) < SURE:
        return False
    return left_by_a_curve(_so_far(steps, before), y) < left_by_a_step(y)


def _so_far(steps: FloatColumn, before: float) -> FloatColumn:
    """Env steps until the middle of each stretch."""
    return np.asarray(before + np.cumsum(steps) - steps / 2, np.float64)


def machine_pace(pace: Pace, part: str) -> FloatColumn:
    """How slow everything else was in each stretch, against its own middle: about 1 on a machine that is left alone."""
    total = sum(float(own.sum()) for own in pace.own_ns.values())
    others = []
    for name, own in pace.own_ns.items():
        if name == part or name in NOT_JUDGED or float(own.sum()) < SMALLEST_OTHER * total:
            continue
        count = pace.calls.get(name, pace.steps)
        each = np.divide(own, count, out=np.full(len(pace), np.nan), where=(count > 0) & (own > 0))
        known = np.isfinite(each)
        if known.sum() >= len(pace) / 2:
            others.append(np.where(known, each / np.median(each[known]), np.nan))
    if not others:
        return np.ones(len(pace), np.float64)
    stacked = np.array(others)
    stacked[:, np.isnan(stacked).all(axis=0)] = 1.0
    return np.asarray(np.nanmedian(stacked, axis=0), np.float64)


def same_work_since(pace: Pace) -> int:
    """From which stretch on the program does the same per env step as at the end: as much acting, as many updates."""
    since = 0
    for name in _TELLING:
        calls = pace.calls.get(name)
        if calls is None or not calls.any():
            continue
        each = calls / pace.steps
        end = float(np.median(each[-max(len(each) // 4, 1) :]))
        outside = np.flatnonzero((each < end / SAME_WORK) | (each > end * SAME_WORK))
        # One stretch may hold more by chance; two in a row are another kind of work.
        pairs = outside[np.isin(outside + 1, outside)] if len(outside) > 1 else outside[:0]
        edge = outside[outside == 0]
        if len(pairs) or len(edge):
            since = max(since, int(max([*(pairs + 1), *edge])) + 1)
    return since


def _longer_episodes(pace: Pace, part: str) -> float:
    """By how much episodes got longer, where that may explain what an environment takes; else 1."""
    if part == UNATTRIBUTED or not part.startswith("env.") or not pace.episodes.any():
        return 1.0
    pieces = thirds_of(pace.steps)
    lengths = [float(pace.steps[rows].sum() / max(pace.episodes[rows].sum(), 1.0)) for rows in pieces]
    return max(lengths[2] / lengths[0], 1.0) if lengths[0] > 0 else 1.0
