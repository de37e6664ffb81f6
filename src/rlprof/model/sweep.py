"""A sweep over settings, ready to be drawn. Field names are the JSON contract's, schema 1. Absent is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rlprof.model.comparison import ComparisonWarning, LeftOut, Per, Verdict

SWEEP_SCHEMA: Final = 1

#: What is known of the fastest setting: nothing else can be as fast, others may be, or the runs cannot tell.
Standing = Literal["proven", "unbeaten", "tie", "cannot-tell", "refuted"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the interval that holds the true one in 95 of 100 cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    n: float
    rate: float


@dataclass(frozen=True, slots=True)
class Law:
    """Universal scalability law: rate(N) = rate_of_one N / (1 + serial (N-1) + coherency N (N-1)).

    `cannot_tell` says why there is none; then only `misfit` may be known. The knee is the smallest N
    at which doubling it brings less than a tenth more, None where that is beyond the measured range; `peak` is where
    the curve turns down, if within it; `ceiling` is what no N exceeds, where the curve only levels off.
    """

    rate_of_one: Estimate | None
    serial: Estimate | None
    coherency: Estimate | None
    knee: Estimate | None
    peak: float | None
    ceiling: float | None
    misfit: float | None  # how far the points lie from the curve, typically, as a share
    r_squared: float | None
    curve: tuple[CurvePoint, ...]
    cannot_tell: str | None


@dataclass(frozen=True, slots=True)
class PhaseShare:
    phase: str
    seconds: float  # per unit of work
    share: float


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its throughput in a typical run with a 95% interval, its phases, and what became of its trials."""

    name: str
    values: Mapping[str, str]
    runs: int
    rate: float | None  # units of work (`per` of the sweep) a second
    low: float | None
    high: float | None
    phases: tuple[PhaseShare, ...]
    trial_seconds: float | None  # from the start of the program to its end
    failed: int
    timed_out: int
    against_best: Verdict | None  # None for the best itself and where nothing was measured
    given_up: str | None  # why no more runs of it were tried
    other_work: str | None  # in what it does other work for an env step than the first setting, as its updates


@dataclass(frozen=True, slots=True)
class Curve:
    """One parameter varied, all others held. Points are names of settings in order of the parameter."""

    parameter: str
    at: Mapping[str, str]
    settings: tuple[str, ...]
    numbers: tuple[float, ...]
    law: Law


@dataclass(frozen=True, slots=True)
class Rival:
    """A neighbour of the best setting in the confirmation. A ratio above 1 says that the neighbour is faster."""

    setting: str
    pairs: int
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The best setting against its neighbours in runs of their own."""

    best: str
    standing: Standing
    rivals: tuple[Rival, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Sweep:
    schema: int
    command: str
    parameters: Mapping[str, tuple[str, ...]]
    one_at_a_time: bool
    per: Per
    rounds: int  # that every setting which works has completed
    rounds_planned: int
    settings: tuple[Setting, ...]
    curves: tuple[Curve, ...]
    best: str | None
    standing: Standing
    recommendation: str
    confirmation: Confirmation | None
    stopped: str | None  # why it ended before all rounds were run
    left_out: tuple[LeftOut, ...]
    other_load: float | None
    warnings: tuple[ComparisonWarning, ...]
