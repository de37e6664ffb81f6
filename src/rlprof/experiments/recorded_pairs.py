"""Pairs from recordings that exist already: the first of one side with the first of the other, in order of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rlprof.experiments.comparable import ARGUMENTS, environment_differences, refusal
from rlprof.experiments.compare import Circumstances, Incomparable, compare
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.experiments.measurements import Measurement, measure_run
from rlprof.experiments.statistics import FEWEST_PAIRS
from rlprof.model.comparison import Comparison, ComparisonWarning, Difference, LeftOut, Side
from rlprof.model.recording import Recording

#: What others may use more beside one side than beside the other before it is worth a word, as a share of the machine.
UNEVEN_LOAD: Final = 0.05


@dataclass(frozen=True, slots=True)
class Trials:
    """The recordings of one side that count, and those that do not."""

    kept: tuple[Recording, ...]
    left_out: tuple[LeftOut, ...]


def completed(recordings: Sequence[Recording]) -> Trials:
    """In order of time; a run that did not end by itself is no measurement of the whole program."""
    ordered = sorted(recordings, key=lambda recording: recording.started)
    return Trials(
        tuple(r for r in ordered if r.status == "completed"),
        tuple(LeftOut(r.source, f"the run {_ended(r)}") for r in ordered if r.status != "completed"),
    )


def _ended(recording: Recording) -> str:
    return {"running": "is still going on", "killed": "was killed", "interrupted": "was interrupted"}.get(
        recording.status, "failed"
    )


@dataclass(frozen=True, slots=True)
class Matched:
    """Runs put side by side, with everything there is to say about how they came together."""

    pairs: tuple[tuple[Measurement, Measurement], ...]
    sides: tuple[Side, Side]
    how: Circumstances

    def compare(self) -> Comparison:
        return compare(self.sides, self.pairs, self.how)


def match(
    baseline: Sequence[Recording],
    candidate: Sequence[Recording],
    names: tuple[str, str],
    how: Circumstances,
    *,
    paired: bool = False,
    measure: Callable[[Recording], Measurement] = measure_run,
) -> Matched:
    """Put two sets of runs side by side. `paired` says that the i-th of both were run one after the other."""
    sides = (
        (Trials(tuple(baseline), ()), Trials(tuple(candidate), ()))
        if paired
        else (completed(baseline), completed(candidate))
    )
    a, b = sides[0].kept, sides[1].kept
    n = min(len(a), len(b))
    differences = environment_differences(a, b)
    if paired:  # the sides are their commands
        differences = tuple(difference for difference in differences if difference.fact != ARGUMENTS)
    why = refusal(differences)
    if why is not None and not how.forced:
        raise Incomparable(f"{why}; --force compares them all the same")
    pairs = tuple((measure(mine), measure(theirs)) for mine, theirs in zip(a[:n], b[:n], strict=True))
    how = replace(
        _with_load(how, pairs),
        differences=(*differences, *_load_difference(pairs)),
        forced=how.forced and why is not None,
        left_out=(*how.left_out, *sides[0].left_out, *sides[1].left_out, *_surplus(a, b)),
    )
    how = replace(how, warnings=(*how.warnings, *_order_doubts(a, b)))
    said = [Side(name, tuple(r.source for r in side[:n])) for name, side in zip(names, (a, b), strict=True)]
    return Matched(pairs, (said[0], said[1]), how)


def _with_load(how: Circumstances, pairs: Sequence[tuple[Measurement, Measurement]]) -> Circumstances:
    """Say what others used of the machine, where who ran the trials has not said it."""
    if how.other_load is not None:
        return how
    load = typical_load(measurement.other_load for pair in pairs for measurement in pair)
    return replace(how, other_load=load, warnings=(*how.warnings, *load_warnings(load)))


def _load_difference(pairs: Sequence[tuple[Measurement, Measurement]]) -> list[Difference]:
    """Others' use of the machine, where the two sides met with more and with less of it."""
    mine, theirs = (typical_load(pair[side].other_load for pair in pairs) for side in (0, 1))
    if mine is None or theirs is None or abs(mine - theirs) <= UNEVEN_LOAD:
        return []
    return [Difference("load of others", f"{mine:.0%}", f"{theirs:.0%}", incomparable=False)]


def _surplus(a: Sequence[Recording], b: Sequence[Recording]) -> list[LeftOut]:
    n = min(len(a), len(b))
    return [LeftOut(r.source, "the other side has no run to pair it with") for r in (*a[n:], *b[n:])]


def _order_doubts(a: Sequence[Recording], b: Sequence[Recording]) -> list[ComparisonWarning]:
    """Whether one side ran before the other: then a machine that changed looks like a program that did."""
    if min(len(a), len(b)) < FEWEST_PAIRS:
        return []
    if a[-1].started > b[0].started and b[-1].started > a[0].started:
        return []
    return [
        ComparisonWarning(
            "not-interleaved",
            "all runs of one side came before all runs of the other: a machine that grew slower meanwhile "
            "would look like a change of the program",
            "let rlprof run both in turns: rlprof compare --a '...' --b '...' --runs 10",
        )
    ]
