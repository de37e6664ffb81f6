"""What an experiment has planned and done, in one small file that is whole after every trial."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal

from rlprof.experiments.schedule import BASELINE, CANDIDATE, Variant
from rlprof.model.errors import RlprofError

FILE: Final = "experiment.json"
SCHEMA: Final = 1

Outcome = Literal["completed", "failed", "timeout", "interrupted"]
_OUTCOMES: Final = ("completed", "failed", "timeout", "interrupted")


class NoExperiment(RlprofError):
    """There is no experiment where one was to be resumed, or another one is there already."""


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

    def command(self, variant: Variant) -> tuple[str, ...]:
        return self.a if variant == BASELINE else self.b


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one side. `pair` is -1 for a warm-up. `recording` is a name in the experiment's directory."""

    pair: int
    variant: Variant
    recording: str
    outcome: Outcome
    exit_code: int | None
    seconds: float
    other_load: float | None
    superseded: bool = False  # its pair was broken off and run again


@dataclass(slots=True)
class Journal:
    """The plan and all trials so far. `ended_at` holds the numbers of pairs at which a planned end was reached."""

    directory: Path
    plan: Plan
    trials: list[Trial] = field(default_factory=list)
    ended_at: list[int] = field(default_factory=list)

    def complete_pairs(self) -> list[tuple[Trial, Trial]]:
        """Both sides of every pair that has them, in order."""
        found: dict[int, dict[str, Trial]] = {}
        for trial in self.trials:
            if trial.outcome == "completed" and trial.pair >= 0 and not trial.superseded:
                found.setdefault(trial.pair, {})[trial.variant] = trial
        whole = [sides for _, sides in sorted(found.items()) if len(sides) == 2]
        return [(sides[BASELINE], sides[CANDIDATE]) for sides in whole]

    def save(self) -> None:
        """Write it whole or not at all."""
        content = {
            "schema": SCHEMA,
            "plan": asdict(self.plan),
            "ended_at": self.ended_at,
            "trials": [asdict(trial) for trial in self.trials],
        }
        draft = self.directory / f".{FILE}.{os.getpid()}"
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            stream.write(json.dumps(content, indent=1, allow_nan=False) + "\n")  # commands may hold secrets
        os.replace(draft, self.directory / FILE)


def open_journal(directory: Path) -> Journal:
    """The experiment in a directory, checked field by field: the file may have been edited."""
    try:
        data = json.loads((directory / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoExperiment(f"there is no experiment in {directory}: name the directory that --out gave") from None
    except (OSError, ValueError, RecursionError) as error:
        raise NoExperiment(f"{directory / FILE} cannot be read: {error}") from None
    try:
        if data["schema"] != SCHEMA:
            raise NoExperiment(f"{directory / FILE} was written by another rlprof (schema {data['schema']})")
        ended = [int(n) for n in data["ended_at"]]
        return Journal(directory, _plan(data["plan"]), [_trial(entry) for entry in data["trials"]], ended)
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
        timeout=None if timeout is None else _finite(timeout),
        early_stop=bool(data["early_stop"]),
        margin=_finite(data["margin"]),
    )


def _trial(data: dict[str, Any]) -> Trial:
    if data["variant"] not in (BASELINE, CANDIDATE) or data["outcome"] not in _OUTCOMES:
        raise ValueError(f"no such trial: {data['variant']!r}, {data['outcome']!r}")
    name = str(data["recording"])
    if Path(name).name != name:
        raise ValueError(f"{name!r} is not a name in this directory")
    load, code = data["other_load"], data["exit_code"]
    known = {f.name: data[f.name] for f in fields(Trial)}
    return Trial(
        **{
            **known,
            "pair": int(data["pair"]),
            "recording": name,
            "seconds": _finite(data["seconds"]),
            "exit_code": None if code is None else int(code),
            "other_load": None if load is None else _finite(load),
            "superseded": bool(data["superseded"]),
        }
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number")
    return number
