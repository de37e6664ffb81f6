"""How long a longer run would take: what grows as it has grown so far, all else in proportion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.episode_lengths import lengths_of
from rlprof.analyse.growth import Growth
from rlprof.analyse.ledger import NS_PER_SECOND
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
    low: float
    high: float
    linear_seconds: float  # at the mean pace of the recorded run
    because: tuple[str, ...]  # the parts that grow

    @property
    def beyond_linear(self) -> float:
        return self.seconds / self.linear_seconds if self.linear_seconds > 0 else 1.0


def project(pace: Pace, growths: Sequence[Growth], times: float) -> Projection:
    """A run with so many times the env steps of the recorded one."""
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
    steps, recorded = float(pace.steps.sum()), project(pace, (), 1.0).seconds
    at_most = seconds / recorded if recorded > 0 else 0.0  # what grows only makes it slower
    reads: tuple[Callable[[Projection], float], ...] = (lambda p: p.seconds, lambda p: p.high, lambda p: p.low)
    likely, low, high = (_times_within(pace, growths, seconds, at_most, read) * steps for read in reads)
    return Reach(likely, low, high, at_most * steps, tuple(growth.part for growth in growths))


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
    said = f"{what}: {format_count(_rounded(found.steps))} env steps"
    if not found.because:
        return said
    return f"{said}, linear would be {format_count(_rounded(found.linear_steps))}, because of {_reasons(found.because)}"


def _rounded(steps: float) -> float:
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
    projected, *others = (project(pace, growths, times) for times in (lengths.times, *lengths.bounds))
    return Projection(
        times=lengths.times,
        seconds=projected.seconds,
        low=min(one.low for one in (projected, *others)),
        high=max(one.high for one in (projected, *others)),
        linear_seconds=project(pace, (), 1.0).seconds * episodes / done,
        because=(*((EPISODES,) if lengths.longer else ()), *projected.because),
    )
