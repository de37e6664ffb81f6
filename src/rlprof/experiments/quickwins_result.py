"""From the trials of cures to what each of them gained."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from rlprof.experiments.arm_comparisons import Readings, compare_arm, compare_arms
from rlprof.experiments.arms import BASELINE_ARM, ArmsJournal, Dropped
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.experiments.logbook import WARM_UP
from rlprof.experiments.peeking import END_BUDGET
from rlprof.experiments.quickwins import BROKEN, INAPPLICABLE, TOGETHER, Trying, arm_name
from rlprof.experiments.same_results import Upshot, judge_results, upshot_of
from rlprof.experiments.statistics import FEWEST_PAIRS
from rlprof.model.comparison import Comparison, ComparisonWarning
from rlprof.model.errors import RlprofError
from rlprof.model.quickwins import (
    QUICKWINS_SCHEMA,
    Cure,
    Gain,
    QuickWins,
    Results,
    State,
    Together,
    TriedCure,
)


def tried_cures(trying: Trying, cures: Sequence[Cure]) -> tuple[TriedCure, ...]:
    """What is known about each cure by now."""
    journal = trying.journal
    gone = {entry.arm: entry for entry in journal.dropped}
    compared = _compare(_of_those_that_apply(journal), trying.readings)
    return tuple(_tried(trying, cure, gone.get(arm_name(cure.name)), compared) for cure in cures)


def _compare(journal: ArmsJournal, readings: Readings) -> dict[str, Comparison | str]:
    """Every arm that has pairs; why not, where one is not to be held against the program as it is."""
    try:
        return {**compare_arms(journal, readings=readings)}
    except RlprofError:  # one of them spoils it for all: they are looked at one by one, as strictly as together
        return {
            name: _compare_one(journal, name, readings) for name in journal.plan.variants[1:] if journal.pairs(name)
        }


def _compare_one(journal: ArmsJournal, name: str, readings: Readings) -> Comparison | str:
    try:
        return compare_arm(journal, name, level=END_BUDGET / (len(journal.plan.arms) - 1), readings=readings)
    except RlprofError as error:
        return str(error)


def _of_those_that_apply(journal: ArmsJournal) -> ArmsJournal:
    """Arms that change nothing are no members of the family whose verdicts share a budget of false alarms."""
    useless = {e.arm for e in journal.dropped if e.why.startswith((INAPPLICABLE, BROKEN))}
    arms = tuple(arm for arm in journal.plan.arms if arm.name not in useless)
    trials = [trial for trial in journal.trials if trial.variant not in useless]
    return replace(journal, plan=replace(journal.plan, arms=arms), trials=trials)


def _tried(trying: Trying, cure: Cure, gone: Dropped | None, compared: dict[str, Comparison | str]) -> TriedCure:
    name = arm_name(cure.name)
    if gone is not None and gone.why.startswith(INAPPLICABLE):
        return TriedCure(cure, "nothing-to-do", gone.why.removeprefix(INAPPLICABLE), None, None)
    if gone is not None and gone.why.startswith(BROKEN):
        return TriedCure(cure, "failed", gone.why, None, None)
    found = compared.get(name, "no round was completed with it")
    if isinstance(found, str):
        return TriedCure(cure, "not-run", found, None, None)
    results = _results(trying.readings, trying.journal, name)
    state: State = "dropped" if gone is not None and not gone.settled else "measured"
    return TriedCure(cure, state, gone.why if gone and not gone.settled else None, _gain(found), results)


def _gain(found: Comparison) -> Gain:
    overall = found.overall
    return Gain(overall.ratio, overall.low, overall.high, overall.level, overall.verdict, found.pairs)


def _upshots(readings: Readings, journal: ArmsJournal, name: str) -> list[Upshot]:
    done = [trial for trial in journal.completed(name) if readings.readable(trial)]
    return [upshot_of(readings.recording(trial)) for trial in done]


def _results(readings: Readings, journal: ArmsJournal, name: str) -> Results:
    return judge_results(_upshots(readings, journal, BASELINE_ARM), _upshots(readings, journal, name))


def winners_of(tried: Sequence[TriedCure], *, also_other_results: bool, also_diagnoses: bool = False) -> list[Cure]:
    """Proven to be faster; of those that exclude each other the fastest, and as a rule none with other results."""
    best: dict[str, TriedCure] = {}
    for entry in tried:
        if entry.gain is None or entry.gain.verdict != "faster":
            continue
        if entry.cure.diagnosis_only and not also_diagnoses:
            continue
        if entry.results is not None and entry.results.kind == "different" and not also_other_results:
            continue
        known = best.get(entry.cure.group)
        if known is None or _ratio(entry) > _ratio(known):
            best[entry.cure.group] = entry
    return [entry.cure for entry in best.values()]


def _ratio(entry: TriedCure) -> float:
    return (entry.gain.ratio if entry.gain is not None else None) or 0.0


def together_of(trying: Trying, winners: Sequence[Cure], why_not: str | None) -> Together | None:
    """What the winners gain together; None where there are not two of them."""
    journal = trying.together
    if journal is None:
        names = tuple(cure.name for cure in winners)
        return Together(names, "not-run", why_not or "it was not run", None, None) if len(names) > 1 else None
    names = journal.plan.arm(TOGETHER).treatments[1:]  # those that were winners when it began
    readings = trying.read(journal)
    compared = _compare(journal, readings).get(TOGETHER, why_not or "no round was completed with them")
    if isinstance(compared, str):
        failed = any(trial.variant == TOGETHER and trial.outcome == "failed" for trial in journal.trials)
        return Together(names, "failed" if failed else "not-run", BROKEN if failed else compared, None, None)
    return Together(names, "measured", None, _gain(compared), _results(readings, journal, TOGETHER))


def quickwins_of(
    trying: Trying, tried: Sequence[TriedCure], together: Together | None, command: Sequence[str]
) -> QuickWins:
    """All of it, ready to be drawn."""
    journal = trying.journal
    speeds = [
        speed
        for trial in journal.completed(BASELINE_ARM)
        if trying.readings.readable(trial) and (speed := trying.readings.of(trial).sps) is not None
    ]
    return QuickWins(
        schema=QUICKWINS_SCHEMA,
        command=shlex.join(command),
        budget_seconds=trying.budget_seconds,
        spent_seconds=trying.spent,
        rounds=len({trial.pair for trial in journal.trials if trial.pair != WARM_UP}),
        sps=median(speeds) if speeds else None,
        margin=journal.plan.conduct.margin,
        cures=tuple(tried),
        together=together,
        directory=str(journal.directory),
        warnings=tuple(_doubts(trying)),
    )


def _doubts(trying: Trying) -> list[ComparisonWarning]:
    journal = trying.journal
    found = load_warnings(typical_load(trial.other_load for trial in journal.trials if trial.counts))
    rounds = len(journal.completed(BASELINE_ARM))
    if rounds < FEWEST_PAIRS:
        found.append(
            ComparisonWarning(
                "few-rounds",
                f"a verdict takes {FEWEST_PAIRS} rounds, and the time was enough for {rounds}",
                "give more time (--budget 30m), fewer cures (--only NAME) or a shorter run of the program",
            )
        )
    return found
