"""A comparison of two variants, ready to be drawn. Field names are the JSON contract's, schema 1.

A ratio above 1 means that B, the candidate, is faster (of memory: that it takes less). Absent is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

COMPARISON_SCHEMA: Final = 1

Verdict = Literal["faster", "slower", "same", "cannot-tell"]
#: What one pair is made of.
Unit = Literal["run", "batch"]
#: What times are divided by, so that runs of different length compare.
Per = Literal["env step", "iteration", "run"]


@dataclass(frozen=True, slots=True)
class Overall:
    """The whole loop. `level` is the certainty of the interval, higher than usual after an early stop."""

    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    baseline_seconds: float | None
    candidate_seconds: float | None
    level: float
    differs_at_most: float | None  # the share by which B may still be faster or slower, at the interval's worse end


@dataclass(frozen=True, slots=True)
class Row:
    """A phase or an operation. `contribution` is the part of the baseline's time that the change gained or cost (< 0).

    A ratio is None where one side did not do this at all.
    """

    baseline_seconds: float
    candidate_seconds: float
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    contribution: float | None


@dataclass(frozen=True, slots=True)
class PhaseRow(Row):
    phase: str


@dataclass(frozen=True, slots=True)
class OperationRow(Row):
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Peak resident memory. The verdict "faster" reads as less, "slower" as more."""

    baseline_mb: float
    candidate_mb: float
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Speed:
    """Env steps a second, typical run of each side."""

    baseline: float
    candidate: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact about machine or software in which the two sides differ."""

    fact: str
    baseline: str
    candidate: str
    incomparable: bool  # numbers of the two cannot be held against each other


@dataclass(frozen=True, slots=True)
class Outlier:
    pair: int  # counted from 1
    ratio: float


@dataclass(frozen=True, slots=True)
class ComparisonWarning:
    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trial that was not counted, and why."""

    trial: str
    why: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two is called and where its recordings are."""

    name: str
    recordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    schema: int
    baseline: Side
    candidate: Side
    pairs: int
    unit: Unit
    per: Per
    overall: Overall
    sps: Speed | None
    phases: tuple[PhaseRow, ...]
    operations: tuple[OperationRow, ...]
    memory: MemoryRow | None
    minimal_detectable: float | None  # the smallest difference (a share) that this many pairs find in 4 of 5 cases
    more_pairs_needed: int | None  # for a verdict; None where nobody can say
    margin: float  # differences below this share count as none, unless they are proven
    outliers: tuple[Outlier, ...]
    environment_differences: tuple[Difference, ...]
    forced: bool
    stopped_early: bool
    left_out: tuple[LeftOut, ...]
    other_load: float | None  # share of the machine that others used meanwhile, typical run
    warnings: tuple[ComparisonWarning, ...]
