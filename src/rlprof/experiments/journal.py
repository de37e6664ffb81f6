"""What a comparison of two commands has planned and done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlprof.experiments.logbook import (
    FILE,
    Logbook,
    NoExperiment,
    Outcome,
    Trial,
    read_content,
    read_finite,
    read_trial,
)
from rlprof.experiments.schedule import BASELINE, CANDIDATE, Variant

__all__ = ["FILE", "Journal", "NoExperiment", "Outcome", "Plan", "Trial", "open_journal"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared. A command is the words behind `rlprof run`."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    runs: int
    seed: int
    warm_up_runs: int
    timeout: float | None
    early_stop: bool
    margin: float

    @property
    def variants(self) -> tuple[str, ...]:
        return (BASELINE, CANDIDATE)

    def command(self, variant: Variant) -> tuple[str, ...]:
        return self.a if variant == BASELINE else self.b


class Journal(Logbook[Plan]):
    """The plan and all trials so far."""

    __slots__ = ()

    def complete_pairs(self) -> list[tuple[Trial, Trial]]:
        """Both sides of every pair that has them, in order."""
        found: dict[int, dict[str, Trial]] = {}
        for trial in self.trials:
            if trial.counts:
                found.setdefault(trial.pair, {})[trial.variant] = trial
        whole = [sides for _, sides in sorted(found.items()) if len(sides) == 2]
        return [(sides[BASELINE], sides[CANDIDATE]) for sides in whole]

    def extensions(self, n: int) -> int:
        """How often more pairs than planned were asked for and looked at, now that there are `n`."""
        return len({*self.ended_at, n} - set(self.ended_at[:1])) if self.ended_at else 0


def open_journal(directory: Path) -> Journal:
    """The comparison in a directory, checked field by field: the file may have been edited."""
    data = read_content(directory)
    if "kind" in data:
        raise NoExperiment(
            f"{directory} holds a {data['kind']}, not a comparison: rlprof {data['kind']} --resume {directory}"
        )
    try:
        plan = _plan(data["plan"])
        trials = [read_trial(entry, plan.variants) for entry in data["trials"]]
        return Journal(directory, plan, trials, [int(n) for n in data["ended_at"]])
    except (KeyError, TypeError, ValueError) as error:
        raise NoExperiment(f"{directory / FILE} is damaged: {error!r}") from None


def _plan(data: dict[str, Any]) -> Plan:
    timeout = data["timeout"]
    return Plan(
        a=tuple(str(word) for word in data["a"]),
        b=tuple(str(word) for word in data["b"]),
        runs=int(data["runs"]),
        seed=int(data["seed"]),
        warm_up_runs=int(data["warm_up_runs"]),
        timeout=None if timeout is None else read_finite(timeout),
        early_stop=bool(data["early_stop"]),
        margin=read_finite(data["margin"]),
    )
