"""The comparison that an experiment's trials amount to, however far it has come."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rlprof.experiments.compare import Circumstances, disturbances_in
from rlprof.experiments.journal import Journal
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.experiments.logbook import AnyPlan, Logbook, Trial
from rlprof.experiments.measurements import Measurement, measure_run
from rlprof.experiments.peeking import end_level, is_settled, look_level
from rlprof.experiments.recorded_pairs import match
from rlprof.experiments.statistics import FEWEST_PAIRS, log_ratios
from rlprof.model.comparison import Comparison, LeftOut
from rlprof.model.errors import RlprofError
from rlprof.model.recording import Recording
from rlprof.recording import open_recording

PlanType = TypeVar("PlanType", bound=AnyPlan)


@dataclass(frozen=True, slots=True)
class Standing:
    """How an experiment came to where it is."""

    stopped_early: bool = False
    interrupted: bool = False
    force: bool = False


class SettledBySpeed:
    """Whether the speed is settled already. Each recording is read once."""

    def __init__(self) -> None:
        self._measured: dict[str, Measurement] = {}

    def __call__(self, journal: Journal) -> bool:
        pairs = journal.complete_pairs()
        if not journal.plan.early_stop or len(pairs) < FEWEST_PAIRS:
            return False
        try:
            measured = [(self._of(journal, a), self._of(journal, b)) for a, b in pairs]
        except RlprofError:
            return False  # the comparison at the end will say what is wrong
        ratios = log_ratios([a.seconds for a, _ in measured], [b.seconds for _, b in measured])
        margin = math.log1p(journal.plan.margin)
        return ratios is not None and is_settled(ratios, margin, disturbances_in(measured))

    def _of(self, journal: Journal, trial: Trial) -> Measurement:
        if trial.recording not in self._measured:
            self._measured[trial.recording] = measure_run(open_recording(journal.directory / trial.recording))
        return self._measured[trial.recording]


def compare_trials(journal: Journal, names: tuple[str, str], standing: Standing) -> Comparison:
    """Compare all complete pairs of an experiment."""
    pairs, unreadable = _open_pairs(journal)
    n = len(pairs)
    counted = [trial for pair in journal.complete_pairs() for trial in pair]
    extended = journal.extensions(n)
    at_end = end_level(extended, peeked=journal.plan.early_stop)
    load = typical_load(trial.other_load for trial in counted)
    how = Circumstances(
        margin=journal.plan.margin,
        level=at_end if _has_ended(journal, n, standing) else look_level(n),
        family=at_end,
        next_level=end_level(len(set(journal.ended_at)), peeked=journal.plan.early_stop),
        stopped_early=standing.stopped_early,
        forced=standing.force,
        left_out=(*left_out(journal), *unreadable),
        other_load=load,
        warnings=tuple(load_warnings(load)),
    )
    return match([a for a, _ in pairs], [b for _, b in pairs], names, how, paired=True).compare()


def _has_ended(journal: Journal, n: int, standing: Standing) -> bool:
    """Whether this is a planned end and not a look on the way: ends have a share of the budget of their own."""
    if standing.stopped_early or standing.interrupted:
        return False
    return not journal.ended_at or n in journal.ended_at


def _open_pairs(journal: Journal) -> tuple[list[tuple[Recording, Recording]], list[LeftOut]]:
    pairs, unreadable = [], []
    for trials in journal.complete_pairs():
        try:
            a, b = (open_recording(journal.directory / trial.recording) for trial in trials)
        except RlprofError as error:
            unreadable.append(LeftOut(f"pair {trials[0].pair + 1}", str(error)))
            continue
        pairs.append((a, b))
    return pairs, unreadable


def left_out(journal: Logbook[PlanType]) -> list[LeftOut]:
    why: dict[str, Callable[[Trial], str]] = {
        "failed": lambda trial: f"failed with exit code {trial.exit_code}",
        "timeout": lambda trial: f"did not end within {journal.plan.timeout:g} s",
        "interrupted": lambda _: "was interrupted",
        "lost": lambda trial: f"was lost with its machine ({trial.node})",
        "completed": lambda _: "its pair was interrupted and run again",
    }
    return [
        LeftOut(trial.recording, why[trial.outcome](trial))
        for trial in journal.trials
        if trial.outcome != "completed" or trial.superseded
    ]
