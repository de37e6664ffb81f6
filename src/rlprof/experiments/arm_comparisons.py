"""Every arm against the baseline, paired by round, by the statistics of `rlprof compare`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rlprof.experiments.arms import BASELINE_ARM, ArmsJournal, Dropped
from rlprof.experiments.compare import Circumstances, disturbances_in
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.experiments.logbook import Trial
from rlprof.experiments.measurements import Measurement, measure_run
from rlprof.experiments.peeking import END_BUDGET, look_level
from rlprof.experiments.recorded_pairs import match
from rlprof.experiments.statistics import ALPHA, FEWEST_PAIRS, Centre, centre_of, holm_levels, log_ratios
from rlprof.experiments.trial_pairs import left_out
from rlprof.model.comparison import Comparison, LeftOut
from rlprof.model.errors import RlprofError
from rlprof.model.recording import Recording
from rlprof.recording import open_recording


class Readings:
    """The recordings of an experiment, each opened and measured once."""

    def __init__(self, journal: ArmsJournal) -> None:
        self._journal = journal
        self._opened: dict[str, Recording] = {}
        self._measured: dict[str, Measurement] = {}

    def recording(self, trial: Trial) -> Recording:
        if trial.recording not in self._opened:
            self._opened[trial.recording] = open_recording(self._journal.directory / trial.recording)
        return self._opened[trial.recording]

    def measure(self, recording: Recording) -> Measurement:
        if recording.source not in self._measured:
            self._measured[recording.source] = measure_run(recording)
        return self._measured[recording.source]

    def of(self, trial: Trial) -> Measurement:
        return self.measure(self.recording(trial))

    def readable(self, trial: Trial) -> bool:
        try:
            self.recording(trial)
        except RlprofError:
            return False
        return True

    def centre(self, arm: str, baseline: str = BASELINE_ARM) -> Centre | None:
        """The middle of an arm's rounds; None where nothing can be said yet."""
        whole = [pair for pair in self._journal.pairs(arm, baseline) if all(map(self.readable, pair))]
        pairs = [(self.of(a), self.of(b)) for a, b in whole]
        ratios = log_ratios([a.seconds for a, _ in pairs], [b.seconds for _, b in pairs])
        return centre_of(ratios, disturbances_in(pairs)) if ratios else None


def compare_arm(
    journal: ArmsJournal,
    name: str,
    *,
    baseline: str = BASELINE_ARM,
    level: float | None = None,
    readings: Readings | None = None,
) -> Comparison:
    """One arm against the baseline. `level` is what the overall verdict is held to, if other arms share the budget."""
    readings = readings or Readings(journal)
    pairs = journal.pairs(name, baseline)
    whole = [pair for pair in pairs if all(map(readings.readable, pair))]
    unreadable = [
        LeftOut(f"round {a.pair + 1}", "its recordings cannot be read") for a, b in pairs if (a, b) not in whole
    ]
    load = typical_load(trial.other_load for pair in whole for trial in pair)
    conduct = journal.plan.conduct
    how = Circumstances(
        margin=conduct.margin,
        level=level,
        # An arm on other processors differs by its own doing.
        forced=bool(journal.plan.arm(name).affinity or journal.plan.arm(baseline).affinity),
        left_out=(*_left_out_of(journal, (name, baseline)), *unreadable),
        other_load=load,
        warnings=tuple(load_warnings(load)),
    )
    sides = [[readings.recording(pair[side]) for pair in whole] for side in (0, 1)]
    found = match(sides[0], sides[1], (baseline, name), how, paired=True, measure=readings.measure).compare()
    return replace(found, stopped_early=_settled(journal, name))


def compare_arms(
    journal: ArmsJournal, *, baseline: str = BASELINE_ARM, readings: Readings | None = None
) -> dict[str, Comparison]:
    """Every arm that has a complete pair. Together their overall verdicts raise a false alarm in one of twenty cases.

    Phases are judged within each arm, as `rlprof compare` does.
    """
    readings = readings or Readings(journal)
    names = [name for name in journal.plan.variants if name != baseline]
    levels = _levels(journal, names, baseline, readings)
    return {
        name: compare_arm(journal, name, baseline=baseline, level=levels[name], readings=readings)
        for name in names
        if name in levels
    }


def settled_arms(journal: ArmsJournal, readings: Readings, baseline: str = BASELINE_ARM) -> list[Dropped]:
    """Arms whose answer more rounds would not change: for `run_rounds` to drop, where the plan allows early stops."""
    if not journal.plan.conduct.early_stop:
        return []
    others = len(journal.plan.arms) - 1
    edge = math.log1p(journal.plan.conduct.margin)
    found = []
    for name in journal.active():
        centre = readings.centre(name, baseline) if name != baseline else None
        if centre is None or centre.n < FEWEST_PAIRS:
            continue
        low, high = centre.interval(look_level(centre.n) / others)
        if low > 0 or high < 0 or (-edge < low and high < edge):
            found.append(Dropped(name, "its answer is clear", settled=True))
    return found


def _levels(journal: ArmsJournal, names: Sequence[str], baseline: str, readings: Readings) -> dict[str, float]:
    """What each arm is held to: Holm's levels at the end, an equal part of the early looks' budget before it."""
    centres = {name: found for name in names if (found := readings.centre(name, baseline)) is not None}
    budget = END_BUDGET if journal.plan.conduct.early_stop else ALPHA
    levels = {
        name: level for name, (level, _) in holm_levels({n: c.p_differs() for n, c in centres.items()}, budget).items()
    }
    for name, centre in centres.items():
        if _settled(journal, name):
            levels[name] = (look_level(centre.n) or budget) / len(names)
    return levels


def _settled(journal: ArmsJournal, name: str) -> bool:
    return any(entry.arm == name and entry.settled for entry in journal.dropped)


def _left_out_of(journal: ArmsJournal, names: tuple[str, str]) -> list[LeftOut]:
    recordings = {trial.recording for trial in journal.trials if trial.variant in names}
    return [entry for entry in left_out(journal) if entry.trial in recordings]
