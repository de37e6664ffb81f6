"""Snake: the two searches for room agree, the board keeps its rules, and cures that promise it change no result."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.installed import need

need("gymnasium", "torch")

import torch  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlprof.demos import snake  # noqa: E402
from rlprof.demos.snake_board import FIRST_LENGTH, FLOOD_FILLS, SnakeBoard, SnakeEnv  # noqa: E402
from rlprof.demos.snake_flood import flood_fill_python, flood_fill_vectorised  # noqa: E402


@st.composite
def boards(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Boards with any share of free cells, and starts on them and beside them."""
    games, rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 12)), draw(st.integers(1, 12))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = random.random((games, rows, columns)) < draw(st.sampled_from([0.3, 0.6, 0.8, 1.0]))
    starts = random.integers(-1, [rows + 1, columns + 1], size=(games, 3, 2))
    return torch.from_numpy(free), torch.from_numpy(starts)


@settings(max_examples=150, deadline=None)
@given(boards())
def test_both_flood_fills_count_the_same_cells(drawn: tuple[torch.Tensor, torch.Tensor]) -> None:
    free, starts = drawn
    assert torch.equal(flood_fill_vectorised(free, starts), flood_fill_python(free, starts))


def test_a_flood_fill_stops_at_walls() -> None:
    free = torch.tensor([[[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 1, 0]]], dtype=torch.bool)
    starts = torch.tensor([[[0, 0], [1, 3], [2, 0], [1, 1], [-1, 0], [0, 4]]])
    for flood_fill in (flood_fill_python, flood_fill_vectorised):
        assert flood_fill(free, starts).tolist() == [[2, 4, 1, 0, 0, 0]]


@pytest.mark.parametrize("flood_fill", FLOOD_FILLS)
def test_a_game_passes_the_checker(flood_fill: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(SnakeEnv(6, flood_fill), skip_render_check=True)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(4, 8))
def test_boards_with_either_flood_fill_go_the_same_way_step_by_step(seed: int, envs: int, size: int) -> None:
    python, vectorised = (SnakeBoard(envs, size, how) for how in ("python", "vectorised"))
    assert torch.equal(python.reset(seed=seed)[0], vectorised.reset(seed=seed)[0])
    random = torch.Generator().manual_seed(seed)
    for _ in range(60):
        actions = torch.randint(3, (envs,), generator=random)
        *seen, info = python.step(actions)
        *same, told = vectorised.step(actions)
        for one, other in zip((*seen, *info.values()), (*same, *told.values()), strict=True):
            assert torch.equal(one, other)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(4, 8), st.lists(st.integers(0, 2), min_size=1, max_size=60))
def test_a_game_by_itself_goes_as_on_the_board_until_it_ends(seed: int, size: int, actions: list[int]) -> None:
    game, board = SnakeEnv(size), SnakeBoard(1, size)
    assert np.array_equal(game.reset(seed=seed)[0], board.reset(seed=seed)[0][0].numpy())
    for action in actions:
        seen, reward, terminated, truncated, info = game.step(action)
        _, rewards, ends, stops, told = board.step(torch.tensor([action]))
        assert np.array_equal(seen, told["final_obs"][0].numpy())
        assert (reward, terminated, truncated) == (rewards.item(), ends.item(), stops.item())
        assert info["score"] == told["scores"].item()
        if terminated or truncated:
            return


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(4, 8))
def test_a_body_is_as_long_as_it_says_and_food_lies_on_a_free_cell(seed: int, envs: int, size: int) -> None:
    board = SnakeBoard(envs, size)
    observations, _ = board.reset(seed=seed)
    random = torch.Generator().manual_seed(seed)
    everyone = torch.arange(envs)
    for _ in range(80):
        assert board.observation_space.contains(observations.numpy())
        assert torch.equal((board.bodies > 0).sum((1, 2)), board.lengths)
        assert torch.equal(board.bodies[everyone, board.heads[:, 0], board.heads[:, 1]], board.lengths)
        assert (board.bodies.flatten(1)[everyone, board.foods] == 0).all()
        before = board.lengths.clone()
        observations, rewards, terminated, truncated, info = board.step(torch.randint(3, (envs,), generator=random))
        assert not (terminated & truncated).any()
        assert torch.equal(info["scores"] + FIRST_LENGTH - before, (rewards == 1).long())
        assert torch.equal(rewards == -1, terminated)
        assert (board.lengths[terminated | truncated] == FIRST_LENGTH).all()


def test_a_snake_that_goes_straight_ends_at_the_wall_and_begins_anew() -> None:
    board = SnakeBoard(envs=2, size=6)
    board.reset(seed=0)
    board.foods[:] = 0  # out of the way
    straight = torch.ones(2, dtype=torch.int64)
    ends = [board.step(straight)[2].tolist() for _ in range(4)]
    assert ends == [[False] * 2] * 2 + [[True] * 2] + [[False] * 2]
    assert board.heads.tolist() == [[1, 2], [1, 2]]


def test_a_snake_may_follow_its_own_tail() -> None:
    board = SnakeBoard(envs=1, size=6)
    board.reset(seed=0)
    board.foods[:] = 0
    board.bodies[0] = 0
    for value, cell in enumerate([(3, 3), (3, 2), (2, 2), (2, 3)], start=1):  # the tail is right below the head
        board.bodies[0, cell[0], cell[1]] = value
    board.heads[0] = torch.tensor([2, 3])
    board.directions[:], board.lengths[:] = 1, 4
    _, _, terminated, _, _ = board.step(torch.tensor([2]))
    assert not terminated.item()
    assert board.heads.tolist() == [[3, 3]]


def test_a_hungry_snake_is_taken_off_and_not_punished() -> None:
    board = SnakeBoard(envs=1, size=6)
    board.reset(seed=0)
    board.foods[:] = 0
    board.hunger[:] = board.patience - 1
    _, rewards, terminated, truncated, _ = board.step(torch.tensor([1]))
    assert (rewards.item(), terminated.item(), truncated.item()) == (0.0, False, True)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(9, 30), st.integers(1, 12))
def test_pushed_one_by_one_or_all_at_once_the_buffer_holds_the_same(
    seed: int, envs: int, capacity: int, steps: int
) -> None:
    random = torch.Generator().manual_seed(seed)
    loop, batched = (snake.Replay(capacity, 2, seed) for _ in range(2))
    for _ in range(steps):
        floats = torch.rand(5, envs, generator=random)
        step = snake.Step(floats[:2].T, floats[0].mul(3).long(), floats[2], floats[3:].T, floats[4] < 0.5)
        snake.push(loop, step, "loop")
        snake.push(batched, step, "batched")
    assert len(loop) == len(batched) == min(steps * envs, capacity)
    for column in ("observations", "actions", "rewards", "following", "ends"):
        assert np.array_equal(getattr(loop, column), getattr(batched, column))
    assert all(torch.equal(a, b) for a, b in zip(loop.sample(4), batched.sample(4), strict=True))


def train(tmp_path: Path, *words: str) -> snake.Training:
    log = ["--log-file", str(tmp_path / "snake.log")]
    options = ["--envs", "16", "--episodes", "40", "--train-steps", "2", "--size", "6", *log, *words]
    before = torch.get_num_threads()
    try:
        return snake.train(snake.parse(options))
    finally:
        torch.set_num_threads(before)


def scores(tmp_path: Path, *words: str) -> list[int]:
    return train(tmp_path, *words).scores


def test_a_seed_makes_a_run_repeatable(tmp_path: Path) -> None:
    assert scores(tmp_path) == scores(tmp_path)
    assert scores(tmp_path) != scores(tmp_path, "--seed", "1")


@pytest.mark.parametrize("cure", [["--push", "batched"], ["--flood-fill", "vectorised"], ["--log", "none"]])
def test_a_cure_that_only_saves_time_changes_no_score(tmp_path: Path, cure: list[str]) -> None:
    assert scores(tmp_path, *cure) == scores(tmp_path)


def test_the_log_has_a_line_for_what_was_asked(tmp_path: Path) -> None:
    train(tmp_path)
    steps = train(tmp_path).steps  # and not twice, in the second training of a process
    assert logging.getLogger("snake").handlers == []
    lines = (tmp_path / "snake.log").read_text().splitlines()
    assert len([line for line in lines if "reward" in line]) == steps
    assert len([line for line in lines if "ended" in line]) >= 40
