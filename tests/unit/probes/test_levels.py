"""Environments inside environments: which classes rest, what wakes them, and that nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlprof import _core, get_profiler
from rlprof.probes.install import Probes
from rlprof.probes.levels import env_levels

gymnasium = pytest.importorskip("gymnasium")


class Doubled(gymnasium.Wrapper[Any, Any, Any, Any]):
    def step(self, action: Any) -> Any:
        return self.env.step(action)


PLAIN_STEP = vars(Doubled)["step"]


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[None]:
    probes = Probes()
    get_profiler().start(tmp_path / "run.rlprof")
    probes.start()
    yield
    probes.stop()
    get_profiler().stop()


def vector_of_two() -> Any:
    envs = gymnasium.vector.SyncVectorEnv([lambda: Doubled(gymnasium.make("CartPole-v1"))] * 2)
    envs.reset(seed=1)
    return envs


def is_ours(cls: Any) -> bool:
    return isinstance(vars(cls)["step"], _core.Levels)


@pytest.mark.usefixtures("recording")
def test_only_classes_rest_that_were_never_outermost() -> None:
    envs = vector_of_two()
    envs.step([0, 1])
    env_levels.rest_now()
    assert vars(Doubled)["step"] is PLAIN_STEP
    assert is_ours(type(envs))
    env_levels.wake_now()
    assert is_ours(Doubled)


@pytest.mark.usefixtures("recording")
def test_resetting_one_that_is_in_no_other_wakes_its_class_for_good() -> None:
    envs = vector_of_two()
    envs.step([0, 1])
    env_levels.rest_now()
    alone = Doubled(gymnasium.make("CartPole-v1"))
    assert not is_ours(Doubled)
    alone.reset()
    assert is_ours(Doubled)
    env_levels.rest_now()
    assert is_ours(Doubled)


@pytest.mark.usefixtures("recording")
def test_resets_inside_a_step_or_another_reset_wake_nobody() -> None:
    envs = vector_of_two()
    env_levels.rest_now()
    envs.reset()
    for _ in range(100):  # with random actions CartPole falls after some twenty steps, and is reset by its step
        envs.step(envs.action_space.sample())
    assert not is_ours(Doubled)


def test_stopping_leaves_every_class_as_it_was(tmp_path: Path) -> None:
    for rests in (True, False):
        probes = Probes()
        get_profiler().start(tmp_path / f"{rests}.rlprof")
        probes.start()
        vector_of_two().step([0, 1])
        if rests:
            env_levels.rest_now()
        probes.stop()
        get_profiler().stop()
        assert vars(Doubled)["step"] is PLAIN_STEP
        assert not env_levels.resting


@pytest.mark.usefixtures("recording")
def test_a_step_that_somebody_replaced_meanwhile_is_theirs() -> None:
    env_levels.rest_now()

    def theirs(self: Any, action: Any) -> Any:
        return self.env.step(action)

    Doubled.step = theirs  # type: ignore[method-assign]
    try:
        env_levels.wake_now()
        assert vars(Doubled)["step"] is theirs
    finally:
        Doubled.step = PLAIN_STEP


@pytest.mark.usefixtures("recording")
def test_a_step_that_is_under_way_is_not_seen_by_half() -> None:
    envs = vector_of_two()
    envs.step([0, 1])
    env_levels.rest()
    assert is_ours(Doubled)
    envs.step([0, 1])
    assert not is_ours(Doubled)
    env_levels.wake()
    assert not is_ours(Doubled)
    envs.step([0, 1])
    assert is_ours(Doubled)


@pytest.mark.usefixtures("recording")
def test_an_errand_that_fails_is_said_and_the_step_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    envs = vector_of_two()

    def fail() -> None:
        raise TypeError("this class does not change")

    _core.at_next_step(fail)
    assert len(envs.step([0, 1])) == 5
    assert "between two env steps failed" in capsys.readouterr().err
