"""How many env steps more episodes take: agents that learn play longer ones, or shorter ones, as time goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.mean_error import error_of_mean
from rlprof.analyse.pace import Pace
from rlprof.analyse.trend import best_powers, kendall_z
from rlprof.model.recording import FloatColumn

#: Episodes that got so much longer are a reason of their own.
LONGER: Final = 1.25
#: So much longer in the last third than in the second: they are still getting longer, and will go on.
STILL_LONGER: Final = 1.08
#: Lengths are looked at in so many groups of episodes: chance makes single ones long and short.
MOST_GROUPS: Final = 12
FEWEST_GROUPS: Final = 6
#: One chance in forty for lengths without a trend.
LIKELY: Final = 1.96


@dataclass(frozen=True, slots=True)
class Lengths:
    """The env steps of a run of so many episodes, as multiples of those that were recorded."""

    times: float
    bounds: tuple[float, ...]  # had they got no longer, or by another curve that fits as well
    longer: bool  # whether they got longer


def lengths_of(pace: Pace, episodes: float) -> Lengths | None:
    """How many steps a run of so many episodes takes; None where none were counted.

    While they are getting longer they go on to do so, as they have so far; else they stay as the last ones were.
    """
    done, steps = float(pace.episodes.sum()), float(pace.steps.sum())
    if done <= 0 or steps <= 0 or len(pace) < 3:
        return None
    first, second, last = _thirds(pace)
    longer = last >= LONGER * first
    more = max(episodes - done, 0.0)
    if not more:
        return Lengths(episodes / done, (), longer)
    even, stays = (1 + more * each / steps for each in (steps / done, last))
    grows = _growing(pace, done + more) if longer and last >= STILL_LONGER * second else None
    if grows is None:
        return Lengths(stays, (even,), longer)
    likely, low, high = (max(times, stays) for times in grows)
    return Lengths(likely, (stays, low, high), longer)


def error_of_lengths(pace: Pace) -> float:
    """By which share the mean length of an episode may be off."""
    _, length, episodes = _groups(pace)
    return error_of_mean(length, episodes) if len(length) else 0.0


def _thirds(pace: Pace) -> tuple[float, float, float]:
    """Steps per episode in each third of the run."""
    found = [
        float(pace.steps[rows].sum() / max(float(pace.episodes[rows].sum()), 1.0))
        for rows in np.array_split(np.arange(len(pace)), 3)
    ]
    return found[0], found[1], found[2]


def _growing(pace: Pace, episodes: float) -> tuple[float, float, float] | None:
    """The steps of so many episodes by the fitted curve, and by the flattest and the steepest that fit as well."""
    middle, length, _ = _groups(pace)
    if len(length) < FEWEST_GROUPS or kendall_z(length) < LIKELY:
        return None
    done = float(pace.episodes.sum())
    fits = best_powers(middle, length)
    # The fit gives the form, the recording the size.
    likely, low, high = (fit.sum_to(episodes) / fit.sum_to(done) for fit in fits)
    return likely, low, high


def _groups(pace: Pace) -> tuple[FloatColumn, FloatColumn, FloatColumn]:
    """Episodes so far in the middle of each group, how long those of the group were, and how many."""
    played = np.cumsum(pace.episodes)
    edges = np.linspace(0.0, float(played[-1]), MOST_GROUPS + 1)[1:-1]
    groups = np.split(np.arange(len(pace)), np.searchsorted(played, edges, side="right"))
    kept = [rows for rows in groups if len(rows) and pace.episodes[rows].sum() > 0]
    count = np.array([float(pace.episodes[rows].sum()) for rows in kept])
    last = np.array([float(played[rows[-1]]) for rows in kept])
    steps = np.array([float(pace.steps[rows].sum()) for rows in kept])
    return last - count / 2, steps / count, count
