"""What moved when the speed of a run changed: learning began, evaluations came in, one part got slower, or all did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.pace import Pace
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.units import three_digits

Kind = Literal["learning", "evaluation", "episodes", "machine", "calls", "part"]

#: Updates per env step below this share of those afterwards are none: a window may reach over the change.
NEARLY_NONE: Final = 0.2
#: Everything moved alike where the middle part did by at least this share of what the whole did (of logarithms).
ALIKE: Final = 0.6
#: A part with less of the time says nothing about the machine.
SMALLEST_PART: Final = 0.02
#: Episodes that got so much longer or shorter are worth a word.
OTHER_LENGTH: Final = 1.3


@dataclass(frozen=True, slots=True)
class Level:
    """What an env step was made of between two changes. Seconds and calls are per env step, by part."""

    sps: float
    seconds: dict[str, float]
    calls: dict[str, float]
    updates: float
    episode_length: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """Why the speed changed. `part` is the part of the ledger that moved most."""

    kind: Kind
    part: str
    text: str


def level_of(pace: Pace, first: int, last: int) -> Level:
    """The stretches from one to before another."""
    rows = slice(first, last)
    steps = float(pace.steps[rows].sum())
    lasted = float((pace.end_ns[rows] - pace.start_ns[rows]).sum()) / NS_PER_SECOND
    each = max(steps, 1.0)
    episodes = float(pace.episodes[rows].sum())
    return Level(
        sps=steps / lasted if lasted > 0 else 0.0,
        seconds={part: float(own[rows].sum()) / NS_PER_SECOND / each for part, own in pace.own_ns.items()},
        calls={part: float(count[rows].sum()) / each for part, count in pace.calls.items()},
        updates=float(pace.updates[rows].sum()) / each,
        episode_length=steps / episodes if episodes >= 1 else None,
    )


def change_between(before: Level, after: Level) -> Change:
    """The one reason that explains most."""
    moved = {part: after.seconds[part] - before.seconds[part] for part in after.seconds}
    slower = after.sps < before.sps
    part = max(moved, key=lambda name: moved[name] if slower else -moved[name])
    for change in _reasons(before, after, part):
        return change
    return _by_part(before, after, part)


def _reasons(before: Level, after: Level, part: str) -> Iterator[Change]:
    if after.updates > 0 and before.updates < NEARLY_NONE * after.updates:
        yield Change("learning", part, "the first update: learning began")
    if part == "evaluate":
        yield Change("evaluation", part, "evaluation")
    alike = _alike(before, after)
    if alike is not None:
        word = "as slow" if alike > 1 else "as fast"
        yield Change("machine", part, f"everything {three_digits(max(alike, 1 / alike))} times {word}: the machine")
    if part == "env.reset" and before.episode_length and after.episode_length:
        ratio = after.episode_length / before.episode_length
        if max(ratio, 1 / ratio) >= OTHER_LENGTH:
            yield Change("episodes", part, f"episodes {three_digits(ratio)} times as long")


def _alike(before: Level, after: Level) -> float | None:
    """By how much every call took longer, or shorter, where all did by about as much as the whole."""
    ratios = []
    whole = sum(before.seconds.values())
    for part, seconds in before.seconds.items():
        counts = before.calls.get(part, 1.0), after.calls.get(part, 1.0)
        if seconds >= SMALLEST_PART * whole and after.seconds[part] > 0 and min(counts) > 0:
            ratios.append((after.seconds[part] / counts[1]) / (seconds / counts[0]))
    if len(ratios) < 3 or after.sps <= 0 or before.sps <= 0:
        return None
    middle, total = float(np.log(np.median(ratios))), float(np.log(before.sps / after.sps))
    return float(np.exp(middle)) if total != 0 and middle / total >= ALIKE else None


def _by_part(before: Level, after: Level, part: str) -> Change:
    name = "time in no span" if part == UNATTRIBUTED else part
    often = after.calls.get(part, 0.0), before.calls.get(part, 0.0)
    if part not in after.calls or min(often) <= 0:
        if before.seconds[part] <= 0 or after.seconds[part] <= 0:
            return Change("part", part, f"{name} {'came in' if after.seconds[part] > 0 else 'ended'}")
        ratio = after.seconds[part] / before.seconds[part]
        return Change("part", part, f"{name} {three_digits(ratio)} times as long per env step")
    calls = often[0] / often[1]
    each = after.seconds[part] / before.seconds[part] / calls if before.seconds[part] > 0 else 1.0
    if abs(np.log(calls)) > abs(np.log(max(each, 1e-9))):
        return Change("calls", part, f"{name} {three_digits(calls)} times as often per env step")
    return Change("part", part, f"{name} {three_digits(each)} times as long per call")
