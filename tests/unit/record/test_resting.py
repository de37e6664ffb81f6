"""Levels rest where looking at each call is not worth its cost, and what they missed is put down."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.record import resting
from rlprof.record.resting import ENOUGH_CALLS, MOST_SLEEPS, SLEEPS, Resting

STEP, OUTER, INNER = 1, 2, 3
#: A flush of half a second with 2% to spend: levels rest when called more often than 3,000 times in it.
OFTEN, SELDOM = 40_000, 400


class Sleeper:
    def __init__(self) -> None:
        self.awake = True

    def rest(self) -> None:
        assert self.awake
        self.awake = False

    def wake(self) -> None:
        assert not self.awake
        self.awake = True


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    found = Sleeper()
    before = resting.restables[:]
    resting.restables[:] = [found]
    yield found
    resting.restables[:] = before


def levels(share: float = 0.02) -> Resting:
    """A step, an environment inside it, and one more inside that."""
    made = Resting(share)
    made.learn_path(STEP, 0, is_level=False)
    made.learn_path(OUTER, STEP, is_level=True)
    made.learn_path(INNER, OUTER, is_level=True)
    return made


def flush(
    made: Resting, steps: int, each: int, *, awake: bool, untimed: int = 0, counted: bool = True
) -> dict[int, int]:
    """A flush in which so many steps called so many levels each; calls that were missed, by path."""
    timed = steps - untimed
    env_steps = steps * each if counted else 0
    seen = timed * each if awake else 0
    rows = {
        "path": [STEP, OUTER, INNER],
        "count": [steps, seen, seen],
        "untimed": [untimed, 0, 0],
    }
    missed = dict(made.missed(rows, env_steps))
    made.follow(0.5, rows, env_steps)
    return missed


def test_levels_that_are_called_often_sleep_longer_every_night(sleeper: Sleeper) -> None:
    made = levels()
    flush(made, OFTEN // 8, 8, awake=True)
    nights = []
    for _ in range(600):
        nights.append(sleeper.awake)
        flush(made, OFTEN // 8, 8, awake=sleeper.awake)
    awake = [number for number, is_awake in enumerate(nights) if is_awake]
    lengths = [later - earlier - 1 for earlier, later in pairwise([-1, *awake])]
    assert lengths[:4] == [SLEEPS, 13, 19, 28]
    assert set(lengths[6:]) == {MOST_SLEEPS}


def test_levels_that_are_called_seldom_never_rest(sleeper: Sleeper) -> None:
    made = levels()
    for _ in range(30):
        flush(made, SELDOM // 8, 8, awake=True)
        assert sleeper.awake


def test_nothing_rests_where_the_whole_run_may_be_spent(sleeper: Sleeper) -> None:
    made = levels(share=1.0)
    for _ in range(5):
        flush(made, OFTEN, 8, awake=True)
    assert sleeper.awake


def test_nothing_rests_while_two_ways_take_turns(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    made = levels()
    flush(made, OFTEN, 8, awake=True)
    assert not sleeper.awake
    monkeypatch.setattr(resting, "noted", lambda: {"alternate": {"turbo": ["False", "True"]}})
    flush(made, OFTEN, 8, awake=False)
    assert sleeper.awake
    flush(made, OFTEN, 8, awake=True)
    assert sleeper.awake


def test_nothing_rests_that_was_hardly_seen(sleeper: Sleeper) -> None:
    made = levels()
    flush(made, ENOUGH_CALLS // 8 - 1, 8, awake=True)
    assert sleeper.awake


@given(
    st.lists(
        st.tuples(st.integers(3000, 9000), st.integers(0, 2000)),
        min_size=SLEEPS,
        max_size=SLEEPS,
    ),
    st.booleans(),
)
def test_as_many_calls_are_put_down_as_there_were_to_a_timed_step(
    flushes: list[tuple[int, int]], counted: bool
) -> None:
    sleeper = Sleeper()
    before, resting.restables[:] = resting.restables[:], [sleeper]
    try:
        made = levels()
        flush(made, 5000, 8, awake=True, counted=counted)
        missed = [flush(made, steps, 8, awake=False, untimed=untimed, counted=counted) for steps, untimed in flushes]
    finally:
        resting.restables[:] = before
    # What is inside a level goes with it: only the outermost of them are put down.
    assert all(set(found) == {OUTER} for found in missed)
    assert abs(sum(found[OUTER] for found in missed) - 8 * sum(steps - untimed for steps, untimed in flushes)) <= 1


def test_calls_that_were_seen_all_the_same_are_not_put_down_again(sleeper: Sleeper) -> None:
    made = levels()
    flush(made, 5000, 8, awake=True)
    assert not sleeper.awake
    assert flush(made, 5000, 8, awake=True) == {}
    seen_in_part = {"path": [STEP, OUTER], "count": [5000, 100], "untimed": [0, 0]}
    assert dict(made.missed(seen_in_part, 8 * 5000)) == {OUTER: 8 * 5000 - 100}


def test_steps_of_a_single_environment_are_not_taken_for_steps_of_many(sleeper: Sleeper) -> None:
    made = levels()
    flush(made, 5000, 8, awake=True)
    assert not sleeper.awake
    assert flush(made, 5000, 1, awake=False) == {OUTER: 5000}


def test_a_step_that_comes_up_while_they_sleep_is_not_guessed_about(sleeper: Sleeper) -> None:
    made = levels()
    flush(made, OFTEN, 8, awake=True)
    assert not sleeper.awake
    made.learn_path(7, 0, is_level=False)
    rows = {"path": [7], "count": [100], "untimed": [0]}
    assert dict(made.missed(rows, 100)) == {}
