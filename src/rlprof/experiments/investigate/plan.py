"""A plan: a program, and what might make it faster. Plans are data: nothing of them is run but the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rlprof.model.errors import RlprofError

PLAN_SCHEMA: Final = 1
#: Pairs of runs for each hypothesis, at most, unless told otherwise.
RUNS: Final = 8
WARM_UP_RUNS: Final = 1
#: Treatments that only show what something costs.
FOR_DIAGNOSIS: Final = ("skip", "mute-logging", "fingerprint")


class BadPlan(RlprofError):
    """A plan that does not say what it should; the message names the place in it."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a hypothesis does to the baseline's run: words of its command, variables, changes inside the process."""

    arguments: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    treatments: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.arguments or self.remove or self.environment or self.treatments)

    @property
    def leaves_out(self) -> bool:
        """Whether something is left out to see what it costs, which is no cure."""
        return any(kind_of(treatment) in FOR_DIAGNOSIS for treatment in self.treatments)


def kind_of(treatment: str) -> str:
    """`skip` of `skip:module:function`, `threads` of `threads=1`."""
    return treatment.partition("=")[0].partition(":")[0]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """`expect` is how many times as fast the program should become; `effort` is in any unit, the same for all."""

    name: str
    expect: float
    confidence: float
    effort: float
    changes_learning: bool
    change: Change
    words: Words

    @property
    def is_diagnosis(self) -> bool:
        """Whether it shows where the time is and cures nothing, so that it is combined with nothing."""
        return self.words.diagnosis or self.change.leaves_out

    @property
    def worth(self) -> float:
        """What a test of it promises: the gain, as likely as it is, for the effort that the cure takes."""
        return (self.expect - 1.0) * self.confidence / self.effort


@dataclass(frozen=True, slots=True)
class Words:
    """What a hypothesis says to people, and what its author says about its kind."""

    because: str = ""
    action: str = ""
    diagnosis: bool = False
    fill_in: str = ""  # what an empty change waits for


@dataclass(frozen=True, slots=True)
class Settings:
    """How the tests are run."""

    runs: int = RUNS
    warm_up_runs: int = WARM_UP_RUNS
    timeout: float | None = None
    margin: float = 0.03
    seed: int | None = None
    expect_combined: float | None = None
    arguments_combined: tuple[str, ...] = ()  # of both sides where changes are tried together: a longer run, say


@dataclass(frozen=True, slots=True)
class Plan:
    """`command` is the words behind `rlprof run`."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    hypotheses: tuple[Hypothesis, ...]
    settings: Settings = field(default_factory=Settings)


def in_order(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The most promising for its effort first; equals stay as the plan has them. Empty ones come last."""
    return sorted(hypotheses, key=lambda one: (one.change.is_empty, -one.worth))
