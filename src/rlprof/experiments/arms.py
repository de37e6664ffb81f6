"""Experiments with any number of arms: what an arm is, and what is planned and written down about them.

The pieces, in the order in which a command uses them: arms and an `ArmsPlan` (here), `rounds.run_rounds` runs every arm
once per round and saves each trial, `arm_comparisons.compare_arms` holds every arm against the baseline round by
round, and `same_work.judge_work` says whether an arm did the same amount of work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rlprof.experiments.logbook import FILE, Logbook, NoExperiment, Trial, read_content, read_finite, read_trial
from rlprof.experiments.trial_process import Surroundings
from rlprof.model.errors import BadOption

#: The arm that the others are held against, where there is one.
BASELINE_ARM: Final = "baseline"
#: How a trial is told the changes to make inside its process: a JSON list of texts.
TREATMENTS_VARIABLE: Final = "RLPROF_TREATMENTS"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,79}")


@dataclass(frozen=True)
class Arm:
    """One way of running the program. Its name is part of file names and unique in an experiment."""

    name: str
    command: tuple[str, ...]  # the words behind `rlprof run`
    environment: Mapping[str, str] = field(default_factory=dict)  # added to the trial's
    treatments: tuple[str, ...] = ()  # changes made inside the trial's process
    run_options: tuple[str, ...] = ()  # of `rlprof run`, in front of the command
    affinity: tuple[int, ...] = ()  # the processors it may use; none named are all

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadOption(f"{self.name!r} is no name for an arm: letters, digits and . _ = + - make one")

    def words(self) -> tuple[str, ...]:
        """What comes behind `rlprof run`."""
        return (*self.run_options, *self.command)

    def surroundings(self) -> Surroundings:
        """The environment and the processors that a trial of it finds."""
        treatments = {TREATMENTS_VARIABLE: json.dumps(list(self.treatments))} if self.treatments else {}
        return Surroundings({**self.environment, **treatments}, self.affinity)


@dataclass(frozen=True)
class Conduct:
    """How an experiment is run: at most `runs` rounds, in an order by the seed."""

    runs: int
    seed: int
    warm_up_runs: int = 1
    timeout: float | None = None
    early_stop: bool = False  # whether arms may be dropped once their answer is clear, which costs certainty
    margin: float = 0.03  # differences below this share count as none


@dataclass(frozen=True)
class ArmsPlan:
    """What is run. `kind` is the command's name; `settings` is what it wants to find again, as JSON knows it."""

    kind: str
    arms: tuple[Arm, ...]
    conduct: Conduct
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [arm.name.lower() for arm in self.arms]  # some file systems take capitals for small letters
        if len(set(names)) < len(names):
            raise BadOption(f"two arms have one name: {', '.join(arm.name for arm in self.arms)}")

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms)

    @property
    def runs(self) -> int:
        return self.conduct.runs

    @property
    def timeout(self) -> float | None:
        return self.conduct.timeout

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)


@dataclass(frozen=True)
class Dropped:
    """An arm that further rounds leave out. `settled`: because its answer was clear, not because it did not work."""

    arm: str
    why: str
    settled: bool


@dataclass
class ArmsJournal(Logbook[ArmsPlan]):
    """The plan, all trials so far, and the arms that were dropped on the way."""

    dropped: list[Dropped] = field(default_factory=list)

    def content(self) -> dict[str, Any]:
        return {"kind": self.plan.kind, **super().content(), "dropped": [vars(entry) for entry in self.dropped]}

    def active(self) -> tuple[str, ...]:
        """The names of the arms that the next round runs."""
        gone = {entry.arm for entry in self.dropped}
        return tuple(name for name in self.plan.variants if name not in gone)

    def completed(self, arm: str) -> list[Trial]:
        """All measurements of an arm, in order."""
        return [trial for trial in self.trials if trial.variant == arm and trial.counts]

    def pairs(self, arm: str, baseline: str = BASELINE_ARM) -> list[tuple[Trial, Trial]]:
        """The baseline's trial and the arm's of every round that has both on one machine, of one session if any."""
        found = []
        for trial in self.completed(arm):
            partners = [t for t in self.completed(baseline) if (t.pair, t.node) == (trial.pair, trial.node)]
            near = [t for t in partners if t.session == trial.session] or partners
            if near:
                found.append((near[-1], trial))
        return found


def open_arms(directory: Path, kind: str) -> ArmsJournal:
    """The experiment of this kind in a directory, checked field by field: the file may have been edited."""
    data = read_content(directory)
    there = data.get("kind", "compare")
    if there != kind:
        raise NoExperiment(f"{directory} holds the experiment of another command: rlprof {there} --resume {directory}")
    try:
        plan = _plan(kind, data["plan"])
        trials = [read_trial(entry, plan.variants) for entry in data["trials"]]
        ended = [int(n) for n in data["ended_at"]]
        dropped = [Dropped(str(e["arm"]), str(e["why"]), bool(e["settled"])) for e in data["dropped"]]
        return ArmsJournal(directory, plan, trials, ended, dropped)
    except (KeyError, TypeError, ValueError, AttributeError, BadOption) as error:
        raise NoExperiment(f"{directory / FILE} is damaged: {error!r}") from None


def _plan(kind: str, data: Mapping[str, Any]) -> ArmsPlan:
    conduct = data["conduct"]
    timeout = conduct["timeout"]
    return ArmsPlan(
        kind,
        tuple(_arm(entry) for entry in data["arms"]),
        Conduct(
            runs=int(conduct["runs"]),
            seed=int(conduct["seed"]),
            warm_up_runs=int(conduct["warm_up_runs"]),
            timeout=None if timeout is None else read_finite(timeout),
            early_stop=bool(conduct["early_stop"]),
            margin=read_finite(conduct["margin"]),
        ),
        dict(data["settings"]),
    )


def _arm(data: Mapping[str, Any]) -> Arm:
    return Arm(
        str(data["name"]),
        _words(data["command"]),
        {str(name): str(value) for name, value in data["environment"].items()},
        _words(data["treatments"]),
        _words(data["run_options"]),
        tuple(int(number) for number in data["affinity"]),
    )


def _words(data: Any) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise ValueError(f"{data!r} is no list of words")
    return tuple(str(word) for word in data)
