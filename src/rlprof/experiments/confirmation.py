"""The best setting of a sweep against its neighbours, in runs of their own: those that chose it cannot prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rlprof.experiments.arm_comparisons import compare_arms
from rlprof.experiments.arms import BASELINE_ARM, ArmsJournal, ArmsPlan, open_arms
from rlprof.experiments.logbook import FILE, NoExperiment
from rlprof.experiments.sweep_settings import number_of
from rlprof.experiments.sweep_words import confirmed, said
from rlprof.model.comparison import Comparison
from rlprof.model.errors import BadOption
from rlprof.model.sweep import Confirmation, Rival

KIND: Final = "sweep-confirmation"
#: Pairs with each neighbour, at most; most answers are clear before.
RUNS: Final = 10
MOST_NEIGHBOURS: Final = 6


def neighbours(
    best: str,
    settings: Mapping[str, Mapping[str, str]],
    parameters: Mapping[str, Sequence[str]],
    working: Sequence[str],
) -> list[str]:
    """Settings that differ from the best in one parameter by one step; where values have no order, by any."""
    found = []
    for parameter, values in parameters.items():
        numbers = [number_of(value) for value in values]
        ordered = all(number is not None for number in numbers)
        line = sorted(values, key=lambda value: number_of(value) or 0.0) if ordered else list(values)
        at = line.index(settings[best][parameter])
        near = line[max(at - 1, 0) : at + 2] if ordered else line
        for value in near:
            wanted = {**settings[best], parameter: value}
            found += [name for name in working if name != best and dict(settings[name]) == wanted]
    return found[:MOST_NEIGHBOURS]


def plan_confirmation(journal: ArmsJournal, best: str, working: Sequence[str], runs: int | None = None) -> ArmsPlan:
    """The best as the baseline, its neighbours as arms; so many runs of each at most."""
    told = journal.plan.settings
    near = neighbours(best, told["settings"], told["parameters"], working)
    if not near:
        raise BadOption(f"{best} has no neighbour that works, so that there is nothing to confirm it against")
    arms = (replace(journal.plan.arm(best), name=BASELINE_ARM), *(journal.plan.arm(name) for name in near))
    conduct = replace(journal.plan.conduct, runs=runs or max(RUNS, journal.plan.runs), early_stop=True, warm_up_runs=0)
    return ArmsPlan(KIND, arms, conduct, {"best": best})


def confirmation_journal(journal: ArmsJournal, plan: ArmsPlan) -> ArmsJournal:
    """Where it is written: the one that was begun for the same question, or a new place."""
    number = 1
    while (place := _place(journal.directory, number) / FILE).exists():
        found = open_arms(place.parent, KIND)
        if found.plan.arms == plan.arms:
            found.plan = replace(found.plan, conduct=replace(found.plan.conduct, runs=plan.runs))
            return found
        number += 1
    return ArmsJournal(_place(journal.directory, number), plan)


def latest_confirmation(journal: ArmsJournal) -> ArmsJournal | None:
    """The last one that was begun, if any."""
    number = 0
    while (_place(journal.directory, number + 1) / FILE).exists():
        number += 1
    return open_arms(_place(journal.directory, number), KIND) if number else None


def confirmation_of(journal: ArmsJournal, settings: Mapping[str, Mapping[str, str]]) -> Confirmation:
    """What its trials say so far."""
    best = str(journal.plan.settings.get("best"))
    if not {best, *journal.plan.variants[1:]} <= set(settings):
        raise NoExperiment(f"{journal.directory} is damaged: it confirms settings that the sweep does not have")
    compared = compare_arms(journal)
    rivals = tuple(_rival(name, compared.get(name)) for name in journal.plan.variants[1:])
    names = {name: said(values) for name, values in settings.items()}
    standing, sentence = confirmed(names[best], rivals, names, journal.plan.conduct.margin)
    return Confirmation(best, standing, rivals, sentence)


def _rival(name: str, found: Comparison | None) -> Rival:
    if found is None:
        return Rival(name, 0, None, None, None, "cannot-tell")
    overall = found.overall
    return Rival(name, found.pairs, overall.ratio, overall.low, overall.high, overall.verdict)


def _place(directory: Path, number: int) -> Path:
    return directory / ("confirmation" if number == 1 else f"confirmation-{number}")
