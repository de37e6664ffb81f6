"""Which changes go together, what they should bring, and what to do about each."""

from __future__ import annotations

import pytest

from rlprof.experiments.investigate.actions import actions_of
from rlprof.experiments.investigate.combine import Team, Winner, collision, teams_of
from rlprof.experiments.investigate.plan import Change
from support.investigations import a_hypothesis, a_measurement, a_result

FLOOD = Winner(a_hypothesis("flood fill", arguments=("--flood-fill", "vectorised")), 1.5)
PUSH = Winner(a_hypothesis("push", arguments=("--push", "batched"), environment={"A": "1"}), 1.1)
FEWER = Winner(a_hypothesis("fewer", arguments=("--train-steps", "4"), changes_learning=True), 1.8)
FEW = Winner(a_hypothesis("few", arguments=("--train-steps=8",), changes_learning=True), 1.7)
NONE = Winner(a_hypothesis("none", arguments=("--train-steps", "0"), changes_learning=True, diagnosis=True), 1.9)


@pytest.mark.parametrize(
    ("one", "other", "key"),
    [
        (Change(("--a", "1")), Change(("--a", "2")), "--a"),
        (Change(("--a", "1")), Change(("--a=2",)), "--a"),
        (Change(("--a", "1")), Change(("--a", "1")), None),
        (Change(("--a", "1")), Change(("--b", "1")), None),
        (Change(("--turbo",)), Change(("--no-turbo",)), "--turbo"),
        (Change(("--a", "1")), Change(remove=("--a",)), "--a"),
        (Change(environment={"A": "1"}), Change(environment={"A": "2"}), "A"),
        (Change(environment={"A": "1"}), Change(environment={"A": "1", "B": "2"}), None),
        (Change(treatments=("threads=1",)), Change(treatments=("threads=2",)), "threads"),
        (Change(treatments=("skip:m:f",)), Change(treatments=("replace:m:f=n:g",)), "m:f"),
        (Change(treatments=("skip:m:f",)), Change(treatments=("skip:m:g",)), None),
        (Change(("lr=1",)), Change(("lr=2",)), "lr"),
    ],
)
def test_changes_of_one_thing_collide(one: Change, other: Change, key: str | None) -> None:
    assert collision(one, other) == key
    assert collision(other, one) == key


def test_cures_are_tried_together_with_and_without_those_that_change_learning() -> None:
    harmless, everything = teams_of([FLOOD, FEWER, PUSH])
    assert [w.hypothesis.name for w in harmless.winners] == ["flood fill", "push"]
    assert [(e.name, e.why) for e in harmless.left_out] == [("fewer", "changes learning")]
    assert [w.hypothesis.name for w in everything.winners] == ["fewer", "flood fill", "push"]
    assert not harmless.changes_learning
    assert everything.changes_learning
    assert everything.change == Change(
        ("--train-steps", "4", "--flood-fill", "vectorised", "--push", "batched"), environment={"A": "1"}
    )


def test_of_two_that_collide_the_better_one_is_taken() -> None:
    (team,) = [team for team in teams_of([FEW, FLOOD, FEWER]) if team.changes_learning]
    assert [w.hypothesis.name for w in team.winners] == ["fewer", "flood fill"]
    assert [(e.name, e.why) for e in team.left_out] == [("few", "sets --train-steps, as does fewer, which brings more")]


def test_a_diagnosis_is_combined_with_nothing() -> None:
    (team,) = teams_of([FLOOD, PUSH, NONE])
    assert [w.hypothesis.name for w in team.winners] == ["flood fill", "push"]
    assert [(e.name, e.why) for e in team.left_out] == [("none", "shows where the time is, and is no cure")]


def test_one_cure_by_itself_is_no_combination() -> None:
    assert teams_of([FLOOD]) == []
    assert teams_of([FLOOD, NONE]) == []
    assert teams_of([]) == []


def test_what_could_not_be_told_is_tried_along_with_all_that_helps() -> None:
    small = Winner(PUSH.hypothesis, 1.05)
    alone, with_small = teams_of([FLOOD, FEWER], [small, FEW, NONE])
    assert [w.hypothesis.name for w in alone.winners] == ["fewer", "flood fill"]
    assert [w.hypothesis.name for w in with_small.winners] == ["fewer", "flood fill", "push"]
    assert [e.name for e in with_small.left_out] == ["few"]


def test_one_cure_and_what_could_not_be_told_are_a_combination_but_nothing_without_a_cure() -> None:
    (team,) = teams_of([FLOOD], [PUSH])
    assert [w.hypothesis.name for w in team.winners] == ["flood fill", "push"]
    assert teams_of([], [PUSH, FEWER]) == []
    assert teams_of([FLOOD], [NONE]) == []


def test_what_each_saves_is_saved_together() -> None:
    half, quarter = Winner(a_hypothesis("a"), 2.0), Winner(a_hypothesis("b"), 4 / 3)
    assert Team("all", (half, quarter), ()).expected == pytest.approx(4.0)
    assert Team("all", (half, half), ()).expected is None  # nothing would be left


def test_actions_come_in_the_order_of_what_they_bring_for_their_effort() -> None:
    hypotheses = [
        a_hypothesis("hard", effort=10.0, arguments=("--a",)),
        a_hypothesis("easy", effort=0.5, arguments=("--b", "1"), changes_learning=True),
        a_hypothesis("shown", treatments=("skip:m:f",), action="make f cheaper"),
        a_hypothesis("unclear", arguments=("--c",)),
        a_hypothesis("broken", arguments=("--d",)),
        a_hypothesis("open", fill_in="the option"),
        a_hypothesis("wrong", arguments=("--e",)),
        a_hypothesis("lazy", arguments=("--f",)),
    ]
    verdicts = ["confirmed", "confirmed", "confirmed", "cannot-tell", "failed", "untested", "refuted", "less-work"]
    results = [
        a_result(one, verdict, None if verdict in ("failed", "untested") else a_measurement(1.5), notes=("why",))
        for one, verdict in zip(hypotheses, verdicts, strict=True)
    ]
    found = actions_of(hypotheses, results, "exp dir")
    assert [item.name for item in found] == ["easy", "hard", "shown", "unclear", "broken", "open"]
    assert [item.rank for item in found] == [1, 2, 3, 4, 5, 6]
    easy, hard, shown, unclear, broken, waits = found
    assert easy.action == "keep --b 1"
    assert "changes what is learned" in easy.why
    assert (hard.gain, unclear.gain) == (1.5, None)
    assert shown.action == "make f cheaper"
    assert "at most" in shown.why
    assert unclear.action == "measure on: rlprof investigate --resume 'exp dir' --runs 9"
    assert broken.why == "why"
    assert waits.why == "the option"
