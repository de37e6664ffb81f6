"""How many environments take turns, one call each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rlprof import _core
from support.reference import a_clean_core, switch_on


@pytest.fixture(autouse=True)
def _recording() -> Iterator[None]:
    with a_clean_core():
        switch_on()
        yield


def mean_turn() -> float:
    turns, steps = _core.envs_in_turn()
    return steps / turns if turns else 0.0


@pytest.mark.parametrize("envs", [1, 2, 32])
def test_as_many_as_there_are_steps_until_the_first_one_has_its_turn_again(envs: int) -> None:
    worlds = [object() for _ in range(envs)]
    for _ in range(50):
        for world in worlds:
            _core.note_step(world, None)
    assert mean_turn() == envs


def test_whole_episodes_one_after_the_other_are_no_turns() -> None:
    worlds = [object() for _ in range(8)]
    for _ in range(5):
        for world in worlds:
            for _ in range(200):
                _core.note_step(world, None)
    assert mean_turn() < 1.1


def test_one_that_is_stepped_no_more_is_given_up() -> None:
    gone, worlds = object(), [object() for _ in range(4)]
    _core.note_step(gone, None)
    for _ in range(20_000):
        for world in worlds:
            _core.note_step(world, None)
    assert mean_turn() == 4


def test_a_clean_core_knows_of_no_turns() -> None:
    world = object()
    for _ in range(10):
        _core.note_step(world, None)
    _core.wipe()
    assert _core.envs_in_turn() == (0, 0)
