"""Whether runs are proven to be slower, or to take more memory, than a baseline by more than is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.experiments.compare import LEAST_SHARE, disturbances_in, members_of
from rlprof.experiments.measurements import Measurement
from rlprof.experiments.statistics import FEWEST_PAIRS, Centre, centre_of, holm_levels, log_ratios

MAX_SLOWDOWN: Final = 0.05
MAX_MEMORY_GROWTH: Final = 0.10
_OVERALL: Final = "the training loop"
_MEMORY: Final = "peak memory"


@dataclass(frozen=True, slots=True)
class Allowed:
    """By what share things may get worse."""

    slowdown: float = MAX_SLOWDOWN
    memory_growth: float = MAX_MEMORY_GROWTH


@dataclass(frozen=True, slots=True)
class Regression:
    """Something that got worse by more than is allowed, even at the favourable end of its interval."""

    what: str
    worse_by: float
    at_least: float
    allowed: float

    def text(self) -> str:
        worse = "grew by" if self.what == _MEMORY else "takes longer by"
        return f"{self.what} {worse} {self.worse_by:.1%}, at least {self.at_least:.1%} (allowed: {self.allowed:.1%})"


def regressions_of(pairs: Sequence[tuple[Measurement, Measurement]], allowed: Allowed) -> list[Regression]:
    """All that is proven, in one family: at most one check in twenty raises any false alarm."""
    if len(pairs) < FEWEST_PAIRS:
        return []
    judged = _centres(pairs)
    limits = {what: allowed.memory_growth if what == _MEMORY else allowed.slowdown for what in judged}
    levels = holm_levels({what: c.p_below(-math.log1p(limits[what])) for what, c in judged.items()})
    return [_regression(what, judged[what], level, limits[what]) for what, (level, proven) in levels.items() if proven]


def _centres(pairs: Sequence[tuple[Measurement, Measurement]]) -> dict[str, Centre]:
    ratios = {_OVERALL: log_ratios([a.seconds for a, _ in pairs], [b.seconds for _, b in pairs])}
    for phase, member in members_of(pairs, lambda measurement: measurement.phases).items():
        if member.share >= LEAST_SHARE:
            ratios[f"phase {phase}"] = log_ratios(member.baseline, member.candidate)
    peaks = [(a.memory_mb, b.memory_mb) for a, b in pairs if a.memory_mb is not None and b.memory_mb is not None]
    if len(peaks) >= FEWEST_PAIRS:
        ratios[_MEMORY] = log_ratios([a for a, _ in peaks], [b for _, b in peaks])
    disturbances = disturbances_in(pairs)
    return {
        what: centre_of(found, None if what == _MEMORY else disturbances)
        for what, found in ratios.items()
        if found is not None
    }


def _regression(what: str, centre: Centre, level: float, limit: float) -> Regression:
    # One side of an interval of twice the level holds at the level.
    return Regression(what, math.expm1(-centre.mean), math.expm1(-centre.interval(2 * level)[1]), limit)
