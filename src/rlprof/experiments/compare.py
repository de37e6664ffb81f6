"""From pairs of measurements to a verdict: overall, by phase, by operation, and for memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, TypeVar

from rlprof.experiments.disturbance import disturbances_of
from rlprof.experiments.measurements import Measurement, Path
from rlprof.experiments.statistics import (
    ALPHA,
    FEWEST_PAIRS,
    Centre,
    centre_of,
    holm_levels,
    log_ratios,
    minimal_detectable,
    outliers_of,
    pairs_needed,
)
from rlprof.model.comparison import (
    COMPARISON_SCHEMA,
    Comparison,
    ComparisonWarning,
    Difference,
    LeftOut,
    MemoryRow,
    OperationRow,
    Outlier,
    Overall,
    Per,
    PhaseRow,
    Side,
    Speed,
    Unit,
    Verdict,
)
from rlprof.model.errors import RlprofError

#: Differences below this share count as none unless they are proven.
MARGIN: Final = 0.03
#: What takes less than this share of either side is shown but not judged: each member of a family costs certainty.
LEAST_SHARE: Final = 0.005
MOST_OPERATIONS: Final = 20
#: Pairs that others disturbed are worth a word when all of them count for less than this share of their number.
MUCH_LESS: Final = 0.9

Key = TypeVar("Key", str, Path)


class Incomparable(RlprofError):
    """The two sides must not be held against each other."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How the pairs came about, beside their numbers."""

    unit: Unit = "run"
    margin: float = MARGIN
    level: float | None = None  # what the whole is held to, where several looks or comparisons share the budget
    family: float = ALPHA  # what all phases together are held to, and memory
    next_level: float = ALPHA  # what a result with more pairs would be held to
    stopped_early: bool = False
    differences: tuple[Difference, ...] = ()
    forced: bool = False
    left_out: tuple[LeftOut, ...] = ()
    other_load: float | None = None
    warnings: tuple[ComparisonWarning, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Judged:
    ratio: float | None
    low: float | None
    high: float | None
    verdict: Verdict


def compare(
    sides: tuple[Side, Side], pairs: Sequence[tuple[Measurement, Measurement]], how: Circumstances
) -> Comparison:
    """The whole comparison. The first of a pair is the baseline, the second the candidate."""
    if not pairs:
        raise Incomparable("there is no complete pair to compare: both sides need at least one run that completed")
    per = _common_unit(pairs)
    ratios = log_ratios([a.seconds for a, _ in pairs], [b.seconds for _, b in pairs])
    if ratios is None:
        raise Incomparable("a run of them did no work that could be timed: nothing to compare")
    n = len(pairs)
    level = how.level or ALPHA
    centre = centre_of(ratios, disturbances_in(pairs))
    overall = _overall(pairs, centre, level, how.margin)
    return Comparison(
        schema=COMPARISON_SCHEMA,
        baseline=sides[0],
        candidate=sides[1],
        pairs=n,
        unit=how.unit,
        per=per,
        overall=overall,
        sps=_speed(pairs),
        phases=_phases(pairs, how.margin, how.family),
        operations=_operations(pairs, how.margin, how.family),
        memory=_memory(pairs, how.margin, how.family) if how.unit == "run" else None,
        minimal_detectable=_as_share(minimal_detectable(centre, level)),
        more_pairs_needed=_more_pairs(overall, centre, how),
        margin=how.margin,
        outliers=tuple(Outlier(at + 1, math.exp(ratios[at])) for at in outliers_of(ratios)),
        environment_differences=how.differences,
        forced=how.forced,
        stopped_early=how.stopped_early,
        left_out=how.left_out,
        other_load=how.other_load,
        warnings=(*how.warnings, *_doubts(centre, pairs)),
    )


def disturbances_in(pairs: Sequence[tuple[Measurement, Measurement]]) -> list[float] | None:
    """By how much others used more of the machine in the one run of a pair than in the other."""
    return disturbances_of([(a.other_load, b.other_load) for a, b in pairs])


def _common_unit(pairs: Sequence[tuple[Measurement, Measurement]]) -> Per:
    units = {measurement.per for pair in pairs for measurement in pair}
    if len(units) > 1:
        raise Incomparable(
            f"some runs are measured per {' and others per '.join(sorted(units))}: "
            'count env steps in both, with rlprof.count("env_steps", n)'
        )
    return units.pop()


def _judge(centre: Centre, level: float, margin: float, proven: bool | None = None) -> _Judged:
    """The verdict at a level; `proven` where a family's correction has decided already."""
    low, high = centre.interval(level)
    if centre.n < FEWEST_PAIRS:
        shown = (None, None) if centre.n < 2 else (_ratio(low), _ratio(high))
        return _Judged(math.exp(centre.mean), *shown, "cannot-tell")
    differs = (low > 0 or high < 0) if proven is None else proven
    edge = math.log1p(margin)
    verdict: Verdict = "cannot-tell"
    if differs:
        verdict = "faster" if centre.mean > 0 else "slower"
    elif -edge < low and high < edge:
        verdict = "same"
    return _Judged(math.exp(centre.mean), _ratio(low), _ratio(high), verdict)


def _ratio(log_ratio: float) -> float | None:
    return math.exp(log_ratio) if abs(log_ratio) < 100 else None


def _overall(pairs: Sequence[tuple[Measurement, Measurement]], centre: Centre, level: float, margin: float) -> Overall:
    judged = _judge(centre, level, margin)
    low, high = centre.interval(level)
    return Overall(
        ratio=judged.ratio,
        low=judged.low,
        high=judged.high,
        verdict=judged.verdict,
        baseline_seconds=median(a.seconds for a, _ in pairs),
        candidate_seconds=median(b.seconds for _, b in pairs),
        level=1 - level,
        differs_at_most=_as_share(max(abs(low), abs(high))) if centre.n >= FEWEST_PAIRS else None,
    )


def _as_share(log_ratio: float | None) -> float | None:
    return math.expm1(log_ratio) if log_ratio is not None and log_ratio < 100 else None


def _more_pairs(overall: Overall, centre: Centre, how: Circumstances) -> int | None:
    """Pairs that are still missing to tell a difference of the size that was seen, or of the margin if that is more."""
    if overall.verdict != "cannot-tell":
        return 0
    if centre.n < 2:
        return FEWEST_PAIRS - centre.n
    needed = pairs_needed(centre, max(abs(centre.mean), math.log1p(how.margin)), how.next_level)
    return None if needed is None else max(needed - centre.n, FEWEST_PAIRS - centre.n, 1)


def _speed(pairs: Sequence[tuple[Measurement, Measurement]]) -> Speed | None:
    sides = [[m.sps for m in side if m.sps is not None] for side in zip(*pairs, strict=True)]
    return Speed(median(sides[0]), median(sides[1])) if all(len(side) == len(pairs) for side in sides) else None


# --- families ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """A part of the whole in all pairs: seconds per unit of each side, and of the baseline's whole."""

    baseline: list[float]
    candidate: list[float]
    wholes: list[float]
    disturbances: list[float] | None = None

    @property
    def shares(self) -> list[float]:
        """Of the baseline's time, what the change gained (above 0) or cost, pair by pair."""
        rows = zip(self.baseline, self.candidate, self.wholes, strict=True)
        return [(a - b) / whole if whole > 0 else 0.0 for a, b, whole in rows]

    @property
    def share(self) -> float:
        whole = median(self.wholes)
        return max(median(self.baseline), median(self.candidate)) / whole if whole > 0 else 0.0

    def centre(self) -> tuple[Centre, bool]:
        """Of the log ratios, or of the shares where one side did not do this at all; whether it is the ratios'."""
        ratios = log_ratios(self.baseline, self.candidate)
        of_ratios = ratios is not None
        return centre_of(self.shares if ratios is None else ratios, self.disturbances), of_ratios


def members_of(
    pairs: Sequence[tuple[Measurement, Measurement]], read: Callable[[Measurement], Mapping[Key, float]]
) -> dict[Key, Member]:
    names = dict.fromkeys(name for pair in pairs for measurement in pair for name in read(measurement))
    wholes, disturbances = [a.seconds for a, _ in pairs], disturbances_in(pairs)
    sides = {
        name: [[read(side).get(name, 0.0) for side in column] for column in zip(*pairs, strict=True)] for name in names
    }
    return {name: Member(a, b, wholes, disturbances) for name, (a, b) in sides.items()}


def _judge_family(members: Mapping[Key, Member], margin: float, alpha: float) -> dict[Key, _Judged]:
    centres = {name: member.centre() for name, member in members.items()}
    large = {str(at): name for at, name in enumerate(members) if members[name].share >= LEAST_SHARE}
    levels = holm_levels({at: centres[name][0].p_differs() for at, name in large.items()}, alpha)
    by_name = {name: levels[at] for at, name in large.items()}
    judged = {}
    for name, (centre, of_ratios) in centres.items():
        level, proven = by_name.get(name, (ALPHA, False))
        found = _judge(centre, level, margin if of_ratios else LEAST_SHARE, proven)
        if name not in by_name:
            found = _Judged(found.ratio, found.low, found.high, "cannot-tell")
        judged[name] = found if of_ratios else _Judged(None, None, None, found.verdict)
    return judged


def _phases(pairs: Sequence[tuple[Measurement, Measurement]], margin: float, alpha: float) -> tuple[PhaseRow, ...]:
    members = members_of(pairs, lambda measurement: measurement.phases)
    judged = _judge_family(members, margin, alpha)
    rows = [PhaseRow(*_cells(members[name], judged[name]), phase=name) for name in members]
    return tuple(sorted(rows, key=lambda row: max(row.baseline_seconds, row.candidate_seconds), reverse=True))


def _operations(
    pairs: Sequence[tuple[Measurement, Measurement]], margin: float, alpha: float
) -> tuple[OperationRow, ...]:
    """The largest operations: those that are chosen by size alone may be judged by their change."""
    members = members_of(pairs, lambda measurement: measurement.operations)
    largest = sorted(members, key=lambda name: members[name].share, reverse=True)[:MOST_OPERATIONS]
    kept = {name: members[name] for name in largest if members[name].share >= LEAST_SHARE}
    judged = _judge_family(kept, margin, alpha)
    return tuple(OperationRow(*_cells(kept[name], judged[name]), path=name) for name in kept)


def _cells(
    member: Member, judged: _Judged
) -> tuple[float, float, float | None, float | None, float | None, Verdict, float | None]:
    contribution = centre_of(member.shares, member.disturbances).mean
    sides = median(member.baseline), median(member.candidate)
    return (*sides, judged.ratio, judged.low, judged.high, judged.verdict, contribution)


def _memory(pairs: Sequence[tuple[Measurement, Measurement]], margin: float, level: float) -> MemoryRow | None:
    known = [(a.memory_mb, b.memory_mb) for a, b in pairs if a.memory_mb is not None and b.memory_mb is not None]
    ratios = log_ratios([a for a, _ in known], [b for _, b in known])
    if ratios is None:
        return None
    centre = centre_of(ratios)
    low, high = centre.interval(level)
    edge = math.log1p(margin)
    # Peaks hardly vary, so that a few kilobytes are soon proven; nobody asks about those.
    judged = _judge(centre, level, margin, proven=False if -edge < low and high < edge else None)
    sides = median(a for a, _ in known), median(b for _, b in known)
    return MemoryRow(*sides, judged.ratio, judged.low, judged.high, judged.verdict)


def _doubts(centre: Centre, pairs: Sequence[tuple[Measurement, Measurement]]) -> tuple[ComparisonWarning, ...]:
    n = centre.n
    found = []
    if n < FEWEST_PAIRS:
        found.append(
            ComparisonWarning(
                "few-pairs",
                f"{n} pair{'s' if n > 1 else ''}: what is shown may be chance, so there is no verdict",
                f"compare at least {FEWEST_PAIRS} pairs, better 10: rlprof compare --a '...' --b '...' --runs 10",
            )
        )
    if centre.worth < MUCH_LESS * n:
        found.append(
            ComparisonWarning(
                "uneven-load",
                "others used more of the machine in one run of some pairs than in the other: those count for less, "
                f"and all {n} for {centre.worth:.1f}",
                "compare on a quiet machine, or with more runs",
            )
        )
    # Of whole runs: how much of one is cut off as its warm-up depends on how long it takes.
    work = [median(m.whole_amount or m.amount for m in side) for side in zip(*pairs, strict=True)]
    if min(work) > 0 and max(work) / min(work) > 1.2:
        found.append(
            ComparisonWarning(
                "different-work",
                f"the sides did different amounts of work ({work[0]:,.0f} against {work[1]:,.0f} "
                f"{pairs[0][0].per}s), and are compared per {pairs[0][0].per}",
                "give both the same number of steps where the work changes as training goes on",
            )
        )
    return tuple(found)
