"""What every experiment writes down: its plan and all trials so far, in one small file that is whole after each."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from rlprof.model.errors import RlprofError

FILE: Final = "experiment.json"
SCHEMA: Final = 1
#: The round of a trial that does not count.
WARM_UP: Final = -1

#: `lost` is what became of a trial whose machine went away.
Outcome = Literal["completed", "failed", "timeout", "interrupted", "lost"]
_OUTCOMES: Final = ("completed", "failed", "timeout", "interrupted", "lost")


class NoExperiment(RlprofError):
    """There is no experiment where one was to be resumed, or another one is there already."""


class AnyPlan(Protocol):
    """What all plans have in common: who is run, how often, and for how long at most."""

    @property
    def variants(self) -> tuple[str, ...]: ...

    @property
    def runs(self) -> int: ...

    @property
    def timeout(self) -> float | None: ...


PlanType = TypeVar("PlanType", bound=AnyPlan)


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of one variant. `pair` is its round, -1 for a warm-up; `recording` a name in the experiment's directory.

    A round that was broken off and taken up again has trials of two sessions, which may lie days apart.
    """

    pair: int
    variant: str
    recording: str
    outcome: Outcome
    exit_code: int | None
    seconds: float
    other_load: float | None
    superseded: bool = False  # its pair was broken off and run again
    session: int = 0
    node: str | None = None  # where it ran, if not on this machine

    @property
    def came_to_its_end(self) -> bool:
        """Whether what became of it is the variant's doing; others are run again."""
        return self.outcome not in ("interrupted", "lost")

    @property
    def counts(self) -> bool:
        """Whether it is a measurement of its variant."""
        return self.outcome == "completed" and self.pair != WARM_UP and not self.superseded


@dataclass(slots=True)
class Logbook(Generic[PlanType]):
    """The plan and all trials so far. `ended_at` holds the numbers of pairs at which a planned end was reached."""

    directory: Path
    plan: PlanType
    trials: list[Trial] = field(default_factory=list)
    ended_at: list[int] = field(default_factory=list)

    def content(self) -> dict[str, Any]:
        """All of it, as it is written."""
        return {
            "schema": SCHEMA,
            "plan": asdict(self.plan),  # type: ignore[call-overload]  # plans are dataclasses
            "ended_at": self.ended_at,
            "trials": [asdict(trial) for trial in self.trials],
        }

    def save(self) -> None:
        """Write it whole or not at all."""
        draft = self.directory / f".{FILE}.{os.getpid()}"
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            stream.write(json.dumps(self.content(), indent=1, allow_nan=False) + "\n")  # commands may hold secrets
        os.replace(draft, self.directory / FILE)

    def free_name(self, pair: int, variant: str) -> str:
        """A name for the recording of the next trial that nothing in the directory has."""
        stem = f"{variant}-{pair + 1:03d}" if pair != WARM_UP else f"warm-up-{variant}"
        name, attempt = stem, 1
        while any((self.directory / f"{name}{suffix}").exists() for suffix in (".rlprof", ".rlprof.parts", ".log")):
            attempt += 1
            name = f"{stem}-{attempt}"
        return f"{name}.rlprof"


def read_content(directory: Path) -> dict[str, Any]:
    """What an experiment's file holds, of a schema that we know."""
    try:
        data = json.loads((directory / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoExperiment(f"there is no experiment in {directory}: name the directory that --out gave") from None
    except (OSError, ValueError, RecursionError) as error:
        raise NoExperiment(f"{directory / FILE} cannot be read: {error}") from None
    if not isinstance(data, Mapping):
        raise NoExperiment(f"{directory / FILE} is damaged: it holds no experiment")
    if data.get("schema") != SCHEMA:
        raise NoExperiment(f"{directory / FILE} was written by another rlprof (schema {data.get('schema')})")
    return dict(data)


def read_trial(data: Mapping[str, Any], variants: tuple[str, ...]) -> Trial:
    """A trial, checked field by field: the file may have been edited."""
    if data["variant"] not in variants or data["outcome"] not in _OUTCOMES:
        raise ValueError(f"no such trial: {data['variant']!r}, {data['outcome']!r}")
    name = str(data["recording"])
    if Path(name).name != name:
        raise ValueError(f"{name!r} is not a name in this directory")
    load, code = data["other_load"], data["exit_code"]
    known = {f.name: data[f.name] for f in fields(Trial) if f.name not in ("session", "node")}
    return Trial(
        **{
            **known,
            "pair": int(data["pair"]),
            "recording": name,
            "seconds": read_finite(data["seconds"]),
            "exit_code": None if code is None else int(code),
            "other_load": None if load is None else read_finite(load),
            "superseded": bool(data["superseded"]),
            "session": int(data.get("session", 0)),
            "node": None if data.get("node") is None else str(data["node"]),
        }
    )


def read_finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number")
    return number
