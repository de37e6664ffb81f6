"""All that an investigation has found so far, from what lies in its directory."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlprof.experiments.arm_comparisons import Readings
from rlprof.experiments.arms import ArmsJournal
from rlprof.experiments.investigate.actions import actions_of
from rlprof.experiments.investigate.case import Case
from rlprof.experiments.investigate.combine import ALL, WITH_SMALL, Team, Winner, teams_of
from rlprof.experiments.investigate.outcomes import levels_of, outcome_of
from rlprof.experiments.investigate.plan import Hypothesis
from rlprof.experiments.investigate.stage import Stage
from rlprof.experiments.investigate.verdicts import Outcome, expectation_of, verdict_of
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.model.investigation import INVESTIGATION_SCHEMA, Combination, Investigation, Tested

Opened = dict[str, tuple[ArmsJournal, Readings]]


@dataclass(frozen=True, slots=True)
class Standing:
    """How the session ended."""

    interrupted: bool = False
    budget_spent: bool = False


def conclude(case: Case, standing: Standing) -> Investigation:
    """Judge every hypothesis, the combinations of those that help, and put what to do in order."""
    opened = _opened(case)
    tested = _hypotheses(case, opened, standing)
    teams = _teams(case, tested)
    largest = teams[-1].name if teams else ALL
    together = [_combination(case, team, standing, is_largest=team.name == largest) for team in teams]
    journals = [journal for journal, _ in opened.values()]
    stages = [case.first_look(), case.first_look_together(), *map(case.team_stage, teams)]
    journals += [found for stage in stages if stage is not None and (found := stage.opened()) is not None]
    trials = [trial for journal in journals for trial in journal.trials]
    load = typical_load(trial.other_load for trial in trials)
    return Investigation(
        schema=INVESTIGATION_SCHEMA,
        plan=case.source,
        directory=str(case.directory),
        baseline=shlex.join(case.plan.command),
        hypotheses=tuple(tested),
        combinations=tuple(together),
        actions=actions_of(case.plan.hypotheses, tested, str(case.directory)),
        runs=len(trials),
        seconds=sum(trial.seconds for trial in trials),
        interrupted=standing.interrupted,
        budget_spent=standing.budget_spent,
        other_load=load,
        warnings=tuple(load_warnings(load)),
    )


def teams(case: Case) -> list[Team]:
    """The changes that help, as far as they go together."""
    return _teams(case, _hypotheses(case, _opened(case), Standing()))


def _opened(case: Case) -> Opened:
    found = {hypothesis.name: case.stage(hypothesis).opened() for hypothesis in case.tested()}
    return {name: (journal, Readings(journal)) for name, journal in found.items() if journal is not None}


def _teams(case: Case, tested: list[Tested]) -> list[Team]:
    by_name = {hypothesis.name: hypothesis for hypothesis in case.plan.hypotheses}
    return teams_of(
        [
            Winner(by_name[one.name], one.measured.ratio)
            for one in tested
            if one.verdict == "confirmed" and one.measured is not None and one.measured.ratio is not None
        ],
        [Winner(by_name[one.name], max(one.expected, 1.0)) for one in tested if one.verdict == "cannot-tell"],
    )


def _hypotheses(case: Case, opened: Opened, standing: Standing) -> list[Tested]:
    planned = case.tested()
    levels = levels_of(opened, len(planned))
    empty = [hypothesis for hypothesis in case.plan.hypotheses if hypothesis.change.is_empty]
    return [_tested(case, hypothesis, opened, levels, standing) for hypothesis in (*planned, *empty)]


def _tested(
    case: Case, hypothesis: Hypothesis, opened: Opened, levels: Mapping[str, float], standing: Standing
) -> Tested:
    outcome = _outcome_of_hypothesis(hypothesis, opened, levels, standing)
    verdict = verdict_of(outcome, hypothesis.expect)
    return Tested(
        name=hypothesis.name,
        because=hypothesis.words.because,
        expected=hypothesis.expect,
        confidence=hypothesis.confidence,
        effort=hypothesis.effort,
        changes_learning=hypothesis.changes_learning,
        diagnosis=hypothesis.is_diagnosis,
        **_what_was_run(case.stage(hypothesis)),
        verdict=verdict,
        expectation=expectation_of(verdict, outcome.measured, hypothesis.expect),
        measured=outcome.measured,
        notes=_notes(outcome),
    )


def _outcome_of_hypothesis(
    hypothesis: Hypothesis, opened: Opened, levels: Mapping[str, float], standing: Standing
) -> Outcome:
    if hypothesis.change.is_empty:
        return Outcome(untested=hypothesis.words.fill_in or "its change is left open in the plan")
    if hypothesis.name not in opened:
        return Outcome(untested=_why_not_run(standing))
    journal, readings = opened[hypothesis.name]
    may = hypothesis.changes_learning or hypothesis.is_diagnosis
    return outcome_of(journal, readings, levels.get(hypothesis.name, 0.05), may_learn_otherwise=may)


def _why_not_run(standing: Standing) -> str:
    return "the budget was spent before its turn" if standing.budget_spent else "its turn has not come yet"


def _combination(case: Case, team: Team, standing: Standing, *, is_largest: bool) -> Combination:
    """The plan says what all of its cures together should bring: as many of them as are tried at once."""
    stage = case.team_stage(team)
    journal = stage.opened()
    told = case.plan.settings.expect_combined if is_largest and team.name in (ALL, WITH_SMALL) else None
    expected = told or team.expected
    outcome = Outcome(untested=_why_not_run(standing))
    if journal is not None:
        readings = Readings(journal)
        level = levels_of({stage.name: (journal, readings)}, 1).get(stage.name, 0.05)
        outcome = outcome_of(journal, readings, level, may_learn_otherwise=team.changes_learning)
    verdict = verdict_of(outcome, expected)
    return Combination(
        name=team.name,
        members=tuple(winner.hypothesis.name for winner in team.winners),
        left_out=team.left_out,
        expected=expected,
        changes_learning=team.changes_learning,
        **_what_was_run(stage),
        verdict=verdict,
        expectation=expectation_of(verdict, outcome.measured, expected),
        measured=outcome.measured,
        notes=_notes(outcome),
    )


def _what_was_run(stage: Stage) -> dict[str, Any]:
    arm = stage.arms[-1]
    return {
        "command": shlex.join(arm.command),
        "environment": dict(arm.environment),
        "treatments": arm.treatments,
    }


def _notes(outcome: Outcome) -> tuple[str, ...]:
    said = (outcome.untested, outcome.failure)
    return (*(text for text in said if text), *outcome.less_work, *outcome.notes)
