"""How long a longer run would take: what grows as it has grown so far, all else in proportion.

The interval has two sources: curves of the growth that fit about as well, and chance. An env step takes longer in one
stretch of the run than in the next, and episodes are longer or shorter; the mean of what was recorded is off by as much
as that lets expect, and that of the longer run, which is recorded by nobody, besides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rlprof.analyse.episode_lengths import error_of_lengths, lengths_of
from rlprof.analyse.growth import Growth
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.mean_error import error_of_mean
from rlprof.analyse.pace import Pace
from rlprof.analyse.trend import Power
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.units import format_count, format_duration

EPISODES: Final = "longer episodes"
#: Of the range in which the end of a run is looked for: a billionth is left.
_HALVINGS: Final = 30


@dataclass(frozen=True, slots=True)
class Projection:
    """Seconds of training, start-up aside."""

    times: float  # as long a run, in env steps
    seconds: float
    low: float  # of the 95% interval
    high: float
    linear_seconds: float  # at the mean pace of the recorded run
    because: tuple[str, ...]  # the parts that grow

    @property
    def beyond_linear(self) -> float:
        return self.seconds / self.linear_seconds if self.linear_seconds > 0 else 1.0


def project(pace: Pace, growths: Sequence[Growth], times: float) -> Projection:
    """A run with so many times the env steps of the recorded one."""
    return _by_chance(_as_it_grows(pace, growths, times), _error_of_pace(pace))


def _as_it_grows(pace: Pace, growths: Sequence[Growth], times: float) -> Projection:
    """Between the flattest and the steepest curve that fit."""
    recorded = float((pace.end_ns - pace.start_ns).sum()) / NS_PER_SECOND
    linear = recorded * times
    steps = float(pace.steps.sum())
    point, low, high = 0.0, 0.0, 0.0
    for growth in growths:
        grown = [_beyond(power, growth, pace, times) for power in _powers(growth)]
        point, low, high = point + grown[0], low + min(grown), high + max(grown)
    return Projection(
        times=times,
        seconds=linear + point if steps > 0 else linear,
        low=linear + low,
        high=linear + high,
        linear_seconds=linear,
        because=tuple(growth.part for growth in growths),
    )


def _error_of_pace(pace: Pace) -> float:
    """By which share the mean time of an env step may be off."""
    taken = pace.steps > 0
    each = (pace.end_ns - pace.start_ns)[taken] / pace.steps[taken]
    return error_of_mean(each, pace.steps[taken])


def _by_chance(projection: Projection, error: float) -> Projection:
    """With what chance may make of it, in the recorded run and in the longer one, which has more time to even out."""
    wider = 1.0 + error * math.sqrt(1.0 + 1.0 / max(projection.times, 1.0))
    return replace(projection, low=projection.low / wider, high=projection.high * wider)


def in_words(projection: Projection, what: str) -> str:
    """`5,000 episodes: 3h 18m, linear would be 14m 02s, because of longer episodes and buffer.sample`."""
    said = f"{what}: {format_duration(projection.seconds)}"
    if not projection.because:
        return said
    linear = format_duration(projection.linear_seconds)
    return f"{said}, linear would be {linear}, because of {_reasons(projection.because)}"


def _reasons(because: Sequence[str]) -> str:
    return " and ".join("time in no span" if part == UNATTRIBUTED else part for part in because)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a run comes in a given time, in env steps, start-up aside."""

    steps: float
    low: float
    high: float
    linear_steps: float  # at the mean pace of the recorded run
    because: tuple[str, ...]


def reach(pace: Pace, growths: Sequence[Growth], seconds: float) -> Reach:
    """How far training comes in so many seconds: the run whose projection takes as long."""
    steps, recorded = float(pace.steps.sum()), project(pace, (), 1.0)
    linear = seconds / recorded.seconds if recorded.seconds > 0 else 0.0
    at_most = seconds / recorded.low if recorded.low > 0 else 0.0  # what grows only makes it slower
    reads: tuple[Callable[[Projection], float], ...] = (lambda p: p.seconds, lambda p: p.high, lambda p: p.low)
    likely, low, high = (_times_within(pace, growths, seconds, at_most, read) * steps for read in reads)
    return Reach(likely, low, high, linear * steps, tuple(growth.part for growth in growths))


def _times_within(
    pace: Pace, growths: Sequence[Growth], seconds: float, at_most: float, read: Callable[[Projection], float]
) -> float:
    low, high = 0.0, at_most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if read(project(pace, growths, middle)) > seconds else (middle, high)
    return (low + high) / 2


def reach_in_words(found: Reach, what: str) -> str:
    """`8 hours: 1,200,000 env steps, linear would be 3,100,000, because of buffer.sample`."""
    said = f"{what}: {format_count(rounded(found.steps))} env steps"
    if not found.because:
        return said
    return f"{said}, linear would be {format_count(rounded(found.linear_steps))}, because of {_reasons(found.because)}"


def rounded(steps: float) -> float:
    """To three digits: more would claim more than is known."""
    return float(f"{steps:.3g}")


def _powers(growth: Growth) -> tuple[Power, Power, Power]:
    return growth.power, growth.exponent_low, growth.exponent_high


def _beyond(power: Power, growth: Growth, pace: Pace, times: float) -> float:
    """What a part takes more in the longer run than in proportion. The fit gives the form, the recording the size."""
    steps = float(pace.steps.sum())
    fitted = power.sum_to(steps)
    if fitted <= 0:
        return 0.0
    taken = float(pace.own_ns[growth.part].sum()) / NS_PER_SECOND
    return max(taken * (power.sum_to(steps * times) / fitted - times), 0.0)


def project_episodes(pace: Pace, growths: Sequence[Growth], episodes: float) -> Projection | None:
    """A run of so many episodes; None where none were counted."""
    lengths = lengths_of(pace, episodes)
    done = float(pace.episodes.sum())
    if lengths is None:
        return None
    projected, *others = (_as_it_grows(pace, growths, times) for times in (lengths.times, *lengths.bounds))
    grown = Projection(
        times=lengths.times,
        seconds=projected.seconds,
        low=min(one.low for one in (projected, *others)),
        high=max(one.high for one in (projected, *others)),
        linear_seconds=project(pace, (), 1.0).seconds * episodes / done,
        because=(*((EPISODES,) if lengths.longer else ()), *projected.because),
    )
    return _by_chance(grown, math.hypot(_error_of_pace(pace), error_of_lengths(pace)))
