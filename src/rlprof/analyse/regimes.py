"""The regimes of a run: start-up, warm-up, steady, degraded, by where its windowed speed changed.

The speed is that of windows, in logarithms. Cumulative rates are never looked at: they change late and slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from rlprof.analyse.changes import Change, Level, change_between, level_of
from rlprof.analyse.course import Course
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.pace import Pace
from rlprof.analyse.segments import change_points
from rlprof.analyse.startup import Startup
from rlprof.analyse.throughput import ENV_STEPS, counter_total, run_end_ns
from rlprof.model.recording import Recording
from rlprof.model.report import Regime

START_UP: Final = "start-up"
WARM_UP: Final = "warm-up"
STEADY: Final = "steady"
DEGRADED: Final = "degraded"

#: What is that much slower than the steady speed before it is degraded.
MUCH_SLOWER: Final = 0.85
#: A first stretch that is slower than what follows, and no longer than this share of the run, is a warm-up.
LONGEST_WARM_UP: Final = 0.25


@dataclass(frozen=True, slots=True)
class Stretch:
    """The time between two changes of speed, and why it began."""

    start_ns: int
    end_ns: int
    level: Level
    change: Change | None  # None for the first one


def regimes_of(recording: Recording, course: Course) -> tuple[Regime, ...]:
    """The regimes in the order of time; one steady one where nothing is known to have changed, none without steps."""
    zero = recording.main.start_ns
    begin = _training_began(zero, course.startup)
    windows = course.windows
    regimes = _after_start_up(stretches_of(windows), zero, begin) if windows is not None else _single(recording, begin)
    if regimes and begin > zero:
        regimes.insert(0, Regime(0.0, (begin - zero) / NS_PER_SECOND, 0.0, START_UP, None))
    return tuple(regimes)


def _after_start_up(found: tuple[Stretch, ...], zero: int, begin: int) -> list[Regime]:
    return [
        Regime(
            start_s=((begin if index == 0 else stretch.start_ns) - zero) / NS_PER_SECOND,
            end_s=(stretch.end_ns - zero) / NS_PER_SECOND,
            sps=stretch.level.sps,
            label=label,
            cause=stretch.change.text if stretch.change is not None else None,
        )
        for index, (stretch, label) in enumerate(zip(found, _labels(found), strict=True))
    ]


def _single(recording: Recording, begin: int) -> list[Regime]:
    """A run too short to be looked at in windows."""
    steps, zero, end = counter_total(recording, ENV_STEPS), recording.main.start_ns, run_end_ns(recording)
    if not steps or end <= begin:
        return []
    first, last = (begin - zero) / NS_PER_SECOND, (end - zero) / NS_PER_SECOND
    return [Regime(first, last, steps / (last - first), STEADY, None)]


def stretches_of(pace: Pace) -> tuple[Stretch, ...]:
    """The stretches between changes of speed, each with the reason for its beginning."""
    lasted = np.maximum(pace.end_ns - pace.start_ns, 1) / NS_PER_SECOND
    speed = np.log(np.maximum(pace.steps, 0.5) / lasted)
    edges = [0, *change_points(speed), len(pace)]
    levels = [level_of(pace, first, last) for first, last in pairwise(edges)]
    changes = [None, *(change_between(before, after) for before, after in pairwise(levels))]
    return tuple(
        Stretch(int(pace.start_ns[first]), int(pace.end_ns[last - 1]), level, change)
        for (first, last), level, change in zip(pairwise(edges), levels, changes, strict=True)
    )


def _training_began(zero: int, startup: Startup | None) -> int:
    """Start-up is what a run begins with, so that it ends as long after the beginning as it took."""
    return zero + round(startup.nanoseconds) if startup is not None else zero


def _labels(found: tuple[Stretch, ...]) -> list[str]:
    labels = [STEADY] * len(found)
    warm = _warm_from(found)
    labels[:warm] = [WARM_UP] * warm
    best = found[warm].level.sps
    for index in range(warm + 1, len(found)):
        speed = found[index].level.sps
        labels[index] = DEGRADED if speed < MUCH_SLOWER * best else STEADY
        best = max(best, speed)
    return labels


def _warm_from(found: tuple[Stretch, ...]) -> int:
    """The stretch in which the run does what it is there for: learning has begun, and caches are warm."""
    began = [index for index, stretch in enumerate(found) if stretch.change and stretch.change.kind == "learning"]
    if began:
        return began[0]
    whole = found[-1].end_ns - found[0].start_ns
    short = len(found) > 1 and found[0].end_ns - found[0].start_ns <= LONGEST_WARM_UP * whole
    return 1 if short and found[0].level.sps < MUCH_SLOWER * found[1].level.sps else 0
