"""Cures that were tried on a program from outside, and what each gained. Field names are the JSON contract's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from rlprof.model.comparison import ComparisonWarning, Verdict

QUICKWINS_SCHEMA: Final = 1

#: Whether the program came to the same results as without the cure.
Sameness = Literal["same", "different", "unchecked"]
#: Measured: there are pairs. Nothing to do: the program has nothing that the cure applies to.
State = Literal["measured", "dropped", "nothing-to-do", "failed", "not-run"]


@dataclass(frozen=True, slots=True)
class Cure:
    """A treatment as a candidate. Of those with one `group`, only one can be taken."""

    name: str
    summary: str
    permanent: str  # lines of code
    changes_results: bool
    diagnosis_only: bool  # shows what something costs, and is not to be kept
    group: str


@dataclass(frozen=True, slots=True)
class Results:
    """Whether results are those of the program as it is, in a word and in a sentence."""

    kind: Sameness
    text: str


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times as fast the program was. None where no pair of runs says anything."""

    ratio: float | None
    low: float | None
    high: float | None
    level: float
    verdict: Verdict
    pairs: int


@dataclass(frozen=True, slots=True)
class TriedCure:
    cure: Cure
    state: State
    why: str | None  # why it was dropped, does nothing, or failed
    gain: Gain | None
    results: Results | None


@dataclass(frozen=True, slots=True)
class Together:
    """The winners combined, measured against the program as it is."""

    cures: tuple[str, ...]
    state: State
    why: str | None
    gain: Gain | None
    results: Results | None


@dataclass(frozen=True, slots=True)
class QuickWins:
    schema: int
    command: str
    budget_seconds: float
    spent_seconds: float
    rounds: int
    sps: float | None  # of the program as it is, typical run
    margin: float
    cures: tuple[TriedCure, ...]
    together: Together | None  # None where fewer than two cures won
    directory: str
    warnings: tuple[ComparisonWarning, ...]

    @property
    def winners(self) -> tuple[TriedCure, ...]:
        """Proven to be faster, the fastest first."""
        won = [tried for tried in self.cures if tried.gain is not None and tried.gain.verdict == "faster"]
        return tuple(sorted(won, key=lambda tried: (tried.gain.ratio if tried.gain else None) or 0.0, reverse=True))
