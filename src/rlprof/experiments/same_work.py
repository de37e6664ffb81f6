"""Whether an arm did the work that the baseline does: a program that does less is not a faster program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, Literal

from rlprof.analyse.throughput import ENV_STEPS, EPISODES, UPDATES, counter_total
from rlprof.model.recording import Recording
from rlprof.model.units import three_digits

#: Settings fix how many steps and updates a run makes, so that a small difference is one already.
LEAST_DIFFERENCE: Final = 0.05
#: Episodes end by chance, too: only a large difference is no chance.
LEAST_EPISODE_DIFFERENCE: Final = 0.20
#: Fewer episodes than this in a typical run say nothing about how long episodes are.
FEWEST_EPISODES: Final = 10

Kind = Literal["same", "less", "more", "different", "unknown"]


@dataclass(frozen=True, slots=True)
class Work:
    """What one run did. Absent is what nobody counted."""

    env_steps: float | None = None
    episodes: float | None = None
    updates: float | None = None

    @property
    def steps_per_episode(self) -> float | None:
        return self.env_steps / self.episodes if self.env_steps and self.episodes else None

    @property
    def updates_per_env_step(self) -> float | None:
        return self.updates / self.env_steps if self.updates is not None and self.env_steps else None


@dataclass(frozen=True, slots=True)
class WorkDifference:
    """A measure of work in which an arm differs: typical runs of both, and the arm's as a multiple of the other."""

    measure: str
    baseline: float
    arm: float
    ratio: float | None  # None where the baseline does none of it
    kind: Kind

    def text(self) -> str:
        change = "" if self.ratio is None else f", {self.ratio - 1:+.0%}"
        return f"{self.measure}: {three_digits(self.arm)} instead of {three_digits(self.baseline)}{change}"


@dataclass(frozen=True, slots=True)
class WorkCheck:
    """The verdict on an arm's work. `text` reads on from the arm's name."""

    kind: Kind
    differences: tuple[WorkDifference, ...]
    text: str

    @property
    def is_same(self) -> bool:
        return self.kind == "same"


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    read: Callable[[Work], float | None]
    threshold: float
    is_amount: bool  # less of it is less work; of the others it is only other work


_STEPS: Final = _Measure("env steps", lambda work: work.env_steps, LEAST_DIFFERENCE, True)
_UPDATES: Final = _Measure("updates per env step", lambda work: work.updates_per_env_step, LEAST_DIFFERENCE, True)
_EPISODES: Final = _Measure("episodes", lambda work: work.episodes, LEAST_EPISODE_DIFFERENCE, False)
_LENGTH: Final = _Measure("steps per episode", lambda work: work.steps_per_episode, LEAST_EPISODE_DIFFERENCE, False)
_WORDS: Final[dict[Kind, str]] = {
    "same": "does the same work",
    "less": "does less, which is no speed-up",
    "more": "does more",
    "different": "plays other episodes, so that its speed may be theirs",
    "unknown": "counts no work, so that nobody can say whether it does the same",
}


def work_of(recording: Recording) -> Work:
    """What a run counted."""
    return Work(*(counter_total(recording, name) for name in (ENV_STEPS, EPISODES, UPDATES)))


def judge_work(baseline: Sequence[Work], arm: Sequence[Work]) -> WorkCheck:
    """Hold an arm's runs against the baseline's, each measure in its typical run.

    A difference counts if it is beyond its threshold and beyond all that the baseline's own runs differ by.
    """
    if not baseline or not arm or not any(work.env_steps for work in (*baseline, *arm)):
        return WorkCheck("unknown", (), _WORDS["unknown"])
    found = [d for measure in _measures_for(baseline) if (d := _difference(measure, baseline, arm)) is not None]
    if any(difference.measure == _STEPS.name for difference in found):
        found = [d for d in found if d.measure != _EPISODES.name]  # more steps are more episodes
    kinds = {difference.kind for difference in found}
    kind: Kind = next((kind for kind in ("less", "different", "more") if kind in kinds), "same")
    said = "; ".join(difference.text() for difference in found)
    return WorkCheck(kind, tuple(found), f"{_WORDS[kind]} ({said})" if found else _WORDS[kind])


def _measures_for(baseline: Sequence[Work]) -> tuple[_Measure, ...]:
    """A program that plays a fixed number of episodes makes as many steps as those happen to last."""
    counts = {work.episodes for work in baseline}
    fixed = len(baseline) > 1 and len(counts) == 1 and _episodes(baseline) >= FEWEST_EPISODES
    varies = len({work.env_steps for work in baseline}) > 1
    steps = replace(_STEPS, threshold=LEAST_EPISODE_DIFFERENCE, is_amount=False) if fixed and varies else _STEPS
    return (steps, _UPDATES, _EPISODES, _LENGTH)


def _difference(measure: _Measure, baseline: Sequence[Work], arm: Sequence[Work]) -> WorkDifference | None:
    mine, theirs = _values(measure, baseline), _values(measure, arm)
    if not measure.is_amount and max(_episodes(baseline), _episodes(arm)) < FEWEST_EPISODES:
        return None
    if not mine and not theirs:
        return None
    # A side that counts env steps and no updates made none.
    usual, now = (median(side) if side else 0.0 for side in (mine, theirs))
    if usual <= 0:
        if now <= 0:
            return None
        return WorkDifference(measure.name, usual, now, None, "more" if measure.is_amount else "different")
    ratio = now / usual
    if abs(ratio - 1) <= measure.threshold or min(mine) <= now <= max(mine):
        return None
    kind: Kind = ("less" if ratio < 1 else "more") if measure.is_amount else "different"
    return WorkDifference(measure.name, usual, now, ratio, kind)


def _values(measure: _Measure, runs: Sequence[Work]) -> list[float]:
    return [value for value in map(measure.read, runs) if value is not None]


def _episodes(runs: Sequence[Work]) -> float:
    return median([work.episodes or 0.0 for work in runs])
