"""Pairs of batches inside one recording, as `rlprof.alternate` made them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rlprof.analyse.alternated import alternated
from rlprof.analyse.ledger import Account, open_account
from rlprof.experiments.compare import Circumstances, Incomparable, compare
from rlprof.experiments.load import load_warnings
from rlprof.experiments.measurements import Grouping, Measurement, measure_stretch, other_load_of
from rlprof.experiments.stretches import Stretch, Timeline
from rlprof.model.comparison import Comparison, LeftOut, Side
from rlprof.model.errors import BadOption
from rlprof.model.recording import IntColumn, Process, Recording

#: As record/alternation.py names its counters.
PREFIX = "alternate:"


@dataclass(frozen=True, slots=True)
class Batch:
    variant: int  # 0 is the first of the two values, the baseline
    stretch: Stretch


def compare_batches(recording: Recording, name: str, margin: float, grouping: Grouping | None = None) -> Comparison:
    """Compare the two values that `alternate(name, ...)` took in this run, by phase if not grouped otherwise."""
    process = recording.main
    batches = batches_of(process, name)
    if not batches:
        known = sorted(alternated(process))
        hint = f"it alternated {', '.join(known)}" if known else "it called no rlprof.alternate(NAME, [old, new])"
        raise BadOption(f"nothing alternates under the name {name!r} in {recording.source}: {hint}")
    account = open_account(process)
    timeline = Timeline(account, recording)
    turns = _rows_of(process, f"{PREFIX}{name}:turns")
    pairs, broken = [], 0
    for first, second in paired(batches):
        measured = {
            b.variant: _measure(account, timeline, b.stretch, process, turns, grouping) for b in (first, second)
        }
        if any(m.amount <= 0 or m.seconds <= 0 for m in measured.values()):
            broken += 1
            continue
        pairs.append((measured[0], measured[1]))
    if not pairs:
        raise Incomparable(f"{recording.source} holds no whole pair of batches of {name!r}: let it run longer")
    labels = alternated(process).get(name, ["first", "second"])
    sides = tuple(Side(f"{name} = {label}", (recording.source,)) for label in labels)
    left_out = (LeftOut(f"{broken} pairs of batches", "no step of the loop ended in one of the two"),) * bool(broken)
    load = other_load_of(recording)
    how = Circumstances(
        unit="batch", margin=margin, left_out=left_out, other_load=load, warnings=tuple(load_warnings(load))
    )
    return compare((sides[0], sides[1]), pairs, how)


def batches_of(process: Process, name: str) -> list[Batch]:
    """All batches that came to their end, in order. A batch ends where the next begins."""
    begins: list[tuple[int, int]] = []
    for variant in (0, 1):
        rows = _rows_of(process, f"{PREFIX}{name}:{variant}")
        begins += [(int(start), variant) for start in process.counter_windows.start_ns[rows]]
    begins.sort()
    return [Batch(variant, Stretch(start, end)) for (start, variant), (end, _) in pairwise(begins)]


def paired(batches: list[Batch]) -> list[tuple[Batch, Batch]]:
    """Batches by twos as they were drawn, without the first four: in them both values do everything the first time."""
    twos = zip(batches[4::2], batches[5::2], strict=False)
    return [(first, second) for first, second in twos if first.variant != second.variant]


def _measure(
    account: Account,
    timeline: Timeline,
    stretch: Stretch,
    process: Process,
    turns: IntColumn,
    grouping: Grouping | None,
) -> Measurement:
    found = measure_stretch(account, timeline, stretch, None, grouping)
    if found.per != "run":
        return found
    # The loop says nothing about its steps or turns: those that asked for a value are its turns.
    table = process.counter_windows
    inside = (table.start_ns[turns] >= stretch.start_ns) & (table.end_ns[turns] <= stretch.end_ns)
    amount = float(table.amount[turns][inside].sum())
    if amount <= 0:
        return replace(found, per="iteration", amount=0.0)
    return Measurement(
        "iteration",
        amount,
        found.seconds / amount,
        {phase: seconds / amount for phase, seconds in found.phases.items()},
        {path: seconds / amount for path, seconds in found.operations.items()},
    )


def _rows_of(process: Process, counter: str) -> IntColumn:
    if counter not in process.counter_names:
        return np.empty(0, np.int64)
    return np.nonzero(process.counter_windows.counter == process.counter_names.index(counter))[0]
