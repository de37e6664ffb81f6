"""What became of the hypotheses of a plan, ready to be drawn. Field names are the JSON contract's, schema 1.

A ratio is how many times as fast the program ran, per unit of work. Absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rlprof.model.comparison import ComparisonWarning, Per

INVESTIGATION_SCHEMA: Final = 1

#: What the test of a hypothesis came to.
Finding = Literal["confirmed", "refuted", "cannot-tell", "less-work", "failed", "untested"]
#: The measured speed-up beside the expected one, where the change was found to help.
Expectation = Literal["met", "exceeded", "short"]


@dataclass(frozen=True, slots=True)
class Work:
    """What a typical run did. Doing less of it is no speed-up."""

    env_steps: float | None
    episodes: float | None
    steps_per_episode: float | None
    updates: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """The program as it is against a change, by pairs of runs. `end_to_end` is about whole runs, start-up included."""

    ratio: float | None
    low: float | None
    high: float | None
    level: float
    pairs: int
    per: Per
    end_to_end: float | None
    baseline_seconds: float | None  # a typical run from its start to its end
    seconds: float | None
    baseline_sps: float | None
    sps: float | None
    more_pairs_needed: int | None
    baseline_work: Work
    work: Work


@dataclass(frozen=True, slots=True)
class Tested:
    """A hypothesis and what came of it. `command` is what was run; `notes` say what the figures do not."""

    name: str
    because: str
    expected: float
    confidence: float
    effort: float
    changes_learning: bool
    diagnosis: bool
    command: str
    environment: Mapping[str, str]
    treatments: tuple[str, ...]
    verdict: Finding
    expectation: Expectation | None
    measured: Measured | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotCombined:
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Combination:
    """Changes that help, all at once. `expected` is what they should bring together."""

    name: str
    members: tuple[str, ...]
    left_out: tuple[NotCombined, ...]
    expected: float | None
    changes_learning: bool
    command: str
    environment: Mapping[str, str]
    treatments: tuple[str, ...]
    verdict: Finding
    expectation: Expectation | None
    measured: Measured | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ActionItem:
    """What to do next, in order of what it brings for its effort."""

    rank: int
    name: str
    action: str
    gain: float | None  # how many times as fast, as measured
    effort: float
    changes_learning: bool
    why: str


@dataclass(frozen=True, slots=True)
class Investigation:
    schema: int
    plan: str
    directory: str
    baseline: str
    hypotheses: tuple[Tested, ...]
    combinations: tuple[Combination, ...]
    actions: tuple[ActionItem, ...]
    runs: int  # that were made in all
    seconds: float  # that they took
    interrupted: bool
    budget_spent: bool
    other_load: float | None
    warnings: tuple[ComparisonWarning, ...]
