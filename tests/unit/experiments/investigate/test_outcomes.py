"""What counts as doing less, for those who say that learning changes and for those who do not."""

from __future__ import annotations

import pytest

from rlprof.experiments.investigate.conduct import TimeLeft
from rlprof.experiments.investigate.outcomes import less_work
from rlprof.experiments.same_work import Work

USUAL = Work(10_000, 100, 2_500)


@pytest.mark.parametrize(
    ("now", "undeclared", "declared"),
    [
        (USUAL, [], []),
        (Work(5_000, 50, 1_250), ["env steps"], ["env steps"]),  # half of everything: a shorter run
        (Work(5_000, 100, 1_250), ["env steps", "steps per episode"], []),  # another agent dies sooner
        (Work(10_000, 50, 2_500), ["episodes", "steps per episode"], []),  # another agent lives longer
        (Work(10_000, 100, 100), ["updates per env step"], []),
        (Work(20_000, 200, 5_000), [], []),
    ],
)
def test_another_agent_plays_other_games_but_not_fewer_of_them(
    now: Work, undeclared: list[str], declared: list[str]
) -> None:
    works = [[USUAL] * 3, [now] * 3]
    assert [entry.measure for entry in less_work(works, may_learn_otherwise=False)] == undeclared
    assert [entry.measure for entry in less_work(works, may_learn_otherwise=True)] == declared


def test_a_shorter_run_is_less_work_where_nobody_counts_episodes() -> None:
    works = [[Work(10_000)] * 2, [Work(5_000)] * 2]
    assert [entry.measure for entry in less_work(works, may_learn_otherwise=True)] == ["env steps"]


def test_a_budget_remembers_that_it_was_too_small() -> None:
    now = [0.0]
    budget = TimeLeft(10.0, clock=lambda: now[0])
    assert budget.allows(9.0)
    assert not budget.is_spent
    now[0] = 5.0
    assert not budget.allows(9.0)
    assert budget.is_spent
    assert TimeLeft(None).allows(1e12)
