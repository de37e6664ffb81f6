"""Robots: they slide until something stops them, the picture shows them, and the networks take what it is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.installed import need

need("gymnasium", "torch", "stable_baselines3", "sb3_contrib", "PIL")

import torch  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlprof.demos import robots  # noqa: E402
from rlprof.demos.robots_board import DIRECTIONS, SIZE, SOLVED, Board, RobotsEnv  # noqa: E402
from rlprof.demos.robots_drawing import CELL, COLOURS, GRID, PAPER, STAR, WALL  # noqa: E402

SHORT = ["--timesteps", "64", "--envs", "2", "--n-steps", "16", "--batch", "16", "--epochs", "1"]


@pytest.mark.parametrize("robots_there", [1, 4])
@pytest.mark.parametrize("obs_mode", ["vector", "rgb_image"])
def test_it_passes_the_checker(obs_mode: str, robots_there: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(RobotsEnv(1, robots_there, obs_mode), skip_render_check=True)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_a_robot_stops_where_something_stops_it_and_not_before(seed: int, count: int) -> None:
    board, random = Board(seed), np.random.default_rng(seed)
    places = random.choice(SIZE * SIZE, count, replace=False)
    standing = [divmod(int(place), SIZE) for place in places]
    for _ in range(20):
        robot, side = int(random.integers(count)), int(random.integers(4))
        (row, column), stop = standing[robot], board.slide(standing, robot, side)
        down, right = DIRECTIONS[side]
        others = standing[:robot] + standing[robot + 1 :]
        while (row, column) != stop:
            assert not board.walls[row, column, side]
            row, column = row + down, column + right
            assert (row, column) not in others
        assert board.walls[row, column, side] or (row + down, column + right) in others
        standing[robot] = stop


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_a_wall_stops_robots_from_both_sides(seed: int) -> None:
    walls = Board(seed).walls
    for row, column, side in np.argwhere(walls).tolist():
        beyond = row + DIRECTIONS[side][0], column + DIRECTIONS[side][1]
        if 0 <= beyond[0] < SIZE and 0 <= beyond[1] < SIZE:
            assert walls[(*beyond, (side + 2) % 4)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_every_target_can_be_reached(seed: int, count: int) -> None:
    env = RobotsEnv(seed, count, "vector")
    env.reset(seed=seed)
    standing = {env.robots[0]}
    for _ in range(3):
        standing |= {env.board.slide([cell, *env.robots[1:]], 0, side) for cell in standing for side in range(4)}
    assert env.target in standing - {env.robots[0]}


def test_a_first_robot_that_cannot_move_is_placed_elsewhere() -> None:
    env = RobotsEnv(0, 1, "vector")
    env.board.walls[:] = True
    env.board.walls[5, 5, 1] = env.board.walls[5, 6, 3] = False
    env.reset(seed=0)
    assert {env.robots[0], env.target} == {(5, 5), (5, 6)}


def test_a_game_ends_on_the_target_or_after_too_many_moves() -> None:
    env = RobotsEnv(0, 2, "vector", most_moves=3)
    env.reset(seed=0)
    env.target = env.board.slide(env.robots, 0, 1)
    enough = env._numbers()[20:24]
    assert enough[1] == 1.0
    _, reward, terminated, truncated, info = env.step(1)
    assert (reward > SOLVED - 0.1, terminated, truncated, info["solved"]) == (True, True, False, True)
    env.reset(seed=0)
    env.target = (-1, -1)
    ends = [env.step(4)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_everything_is_in_the_picture() -> None:
    env = RobotsEnv(0, 2)
    observation, _ = env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (SIZE * CELL, SIZE * CELL, 3)
    shown = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    assert shown >= {PAPER, GRID, WALL, STAR, *COLOURS[:2]}
    for robot, (row, column) in enumerate(env.robots):
        assert tuple(picture[row * CELL + CELL // 2, column * CELL + CELL // 2]) == COLOURS[robot]
    assert observation.shape == (64, 64, 3)
    moving = next(side for side in range(4) if env.board.slide(env.robots, 0, side) != env.robots[0])
    assert env.step(moving)[0].tobytes() != observation.tobytes()


def train(*words: str) -> tuple[list[bool], dict[str, Any]]:
    before = torch.get_num_threads()
    try:
        options = robots.parse([*SHORT, *words])
        torch.set_num_threads(options.threads)
        model = robots.make_model(options)
        games = robots.Games(options.timesteps)
        model.learn(options.timesteps, callback=games)
        return games.solved, {name: value.clone() for name, value in model.policy.state_dict().items()}
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("words", [["--obs-mode", "vector"], ["--no-convlstm"], ["--layers", "1", "--ticks", "1"]])
def test_a_seed_makes_a_run_repeatable(words: list[str]) -> None:
    (solved, weights), (again, same), (_, other) = train(*words), train(*words), train(*words, "--seed", "1")
    assert solved == again
    assert all(torch.equal(weights[name], same[name]) for name in weights)
    assert not all(torch.equal(weights[name], other[name]) for name in weights)


def test_only_convlstm_has_convlstm_layers() -> None:
    assert any("gates" in name for name in train()[1])
    assert not any("gates" in name for name in train("--no-convlstm")[1])
