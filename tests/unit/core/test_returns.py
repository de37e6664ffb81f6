"""Returns of episodes, from the results of steps of environments that take turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rlprof import _core
from support.reference import a_clean_core, switch_on

EVALUATE = 7


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


def counted() -> dict[str, float]:
    return {name: amount for name, amount, _ in _core.drain()[4]}


def test_each_environment_has_its_own_however_they_take_turns() -> None:
    worlds = [object() for _ in range(3)]
    for step in range(1, 11):
        for number, world in enumerate(worlds):
            _core.note_step(world, (None, float(number), step == 10, False, {}))
    found = counted()
    assert found["env_steps"] == 30
    assert found["episodes"] == 3
    assert found["episode_return"] == 0 + 10 + 20


def test_one_that_is_reset_begins_anew() -> None:
    world, other = object(), object()
    for _ in range(5):
        _core.note_step(world, (None, 1.0, False, False, {}))
    _core.forget_return(world, None)
    _core.note_step(world, (None, 1.0, False, False, {}))
    _core.note_step(other, (None, 100.0, False, False, {}))
    _core.forget_return(world, None)  # not the one that stepped last
    _core.note_step(world, (None, 1.0, True, False, {}))
    _core.note_step(other, (None, 100.0, False, True, {}))
    assert counted()["episode_return"] == 1 + 200


@pytest.mark.parametrize(
    ("result", "episodes", "returned"),
    [
        ((0, 2.0, True), 1, 2.0),
        ((0, 2.0, True, {}), 1, 2.0),
        ((0, 2.0, False, True, {}), 1, 2.0),
        ((0, 2.0, False, {}), 0, 0.0),
        ((0, 2.0, False, False, {}), 0, 0.0),
        ((0, "none", True, {}), 1, 0.0),  # a step and an end all the same
    ],
)
def test_results_of_own_making(result: tuple[Any, ...], episodes: int, returned: float) -> None:
    _core.OwnSteps(EVALUATE, pytest.fail)(object(), result)
    found = counted()
    assert found["env_steps"] == 1
    assert (found.get("episodes", 0), found.get("episode_return", 0)) == (episodes, returned)


@pytest.mark.parametrize("result", [None, [0, 1.0, True], (0, 1.0), (0, 1.0, 1, {}), {"reward": 1.0}])
def test_any_other_result_is_read_by_somebody_else(result: Any) -> None:
    told: list[Any] = []
    _core.OwnSteps(EVALUATE, lambda env, result: told.append(result))(object(), result)
    assert told == [result]
    assert "env_steps" not in counted()


def test_a_step_of_an_evaluation_is_none_of_training() -> None:
    steps = _core.OwnSteps(EVALUATE, pytest.fail)
    with _core.guarded_span("evaluate", "evaluate", 1, EVALUATE):
        steps(object(), (0, 1.0, True, {}))
    assert "env_steps" not in counted()
