"""The manufacturing cell is an environment as gymnasium wants it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from support.installed import need

need("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlprof.demos.petri_env import DEADLOCK, PetriEnv  # noqa: E402
from rlprof.demos.petri_net import CellSize  # noqa: E402


def play(env: PetriEnv, seed: int, steps: int, switch_every: int | None = None) -> list[tuple[object, ...]]:
    """What a policy that draws among the legal actions goes through."""
    random = np.random.default_rng(seed)
    seen: list[tuple[object, ...]] = []
    observation, _ = env.reset(seed=seed)
    for number in range(steps):
        if switch_every:
            env.use_engine(turbo=number // switch_every % 2 == 0)
        action = int(random.choice(np.flatnonzero(observation["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((action, reward, terminated, truncated, info, observation["observation"].tobytes()))
        if terminated or truncated:
            observation, _ = env.reset()
    return seen


@pytest.mark.parametrize("turbo", [True, False])
@pytest.mark.parametrize("size", [CellSize(), CellSize(1, 1, 1, 1, 1), CellSize(3, 6, 2, 1, 7)])
def test_it_passes_the_checker(turbo: bool, size: CellSize) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(PetriEnv(size, seed=1, turbo=turbo), skip_render_check=True)


def test_both_engines_give_the_same_episodes() -> None:
    turbo = play(PetriEnv(seed=2, turbo=True), 5, 600)
    assert play(PetriEnv(seed=2, turbo=False), 5, 600) == turbo
    assert any(terminated for _, _, terminated, *_ in turbo)


def test_the_engine_can_be_changed_in_the_middle_of_an_episode() -> None:
    assert play(PetriEnv(seed=2), 5, 300, switch_every=7) == play(PetriEnv(seed=2), 5, 300)


def test_another_seed_is_another_cell() -> None:
    assert not np.array_equal(PetriEnv(seed=1).cell.times, PetriEnv(seed=2).cell.times)


def test_an_episode_with_every_job_done_earns_one_and_pays_for_its_time() -> None:
    env = PetriEnv(CellSize(1, 2, 2, 1, jobs=1))
    observation, _ = env.reset(seed=0)
    total, ended = 0.0, False
    while not ended:
        fire = np.flatnonzero(observation["action_mask"][:-1])
        observation, reward, ended, _, info = env.step(int(fire[0]) if len(fire) else env.wait)
        total += reward
    makespan = int(env.cell.times.sum())
    assert info == {"makespan": makespan, "unfinished": 0}
    # One of the two machines stands idle at any time, and the busiest one is the longer operation's.
    assert total == pytest.approx(1.0 - 1.5 * makespan / int(env.cell.times.max()))


def test_a_deadlock_ends_the_episode_and_costs_what_is_unfinished() -> None:
    for seed in range(40):
        env = PetriEnv(CellSize(slots=1), seed=seed)
        for _, reward, terminated, _, info, _ in play(env, seed, 150):
            if terminated and info["unfinished"]:
                assert reward <= -DEADLOCK * info["unfinished"] / env.cell.size.jobs + 1 / env.cell.size.jobs
                return
    pytest.fail("no deadlock in forty cells")


def test_an_illegal_action_changes_nothing_but_the_reward() -> None:
    env = PetriEnv()
    observation, _ = env.reset(seed=0)
    illegal = int(np.flatnonzero(observation["action_mask"] == 0)[0])
    after, reward, terminated, truncated, _ = env.step(illegal)
    assert after["observation"].tobytes() == observation["observation"].tobytes()
    assert reward < 0
    assert not terminated
    assert not truncated
