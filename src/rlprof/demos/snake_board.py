"""Many games of snake at once on torch tensors, in the form of a gymnasium vector environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from torch import Tensor

from .snake_flood import flood_fill_python, flood_fill_vectorised

FLOOD_FILLS = {"none": None, "python": flood_fill_python, "vectorised": flood_fill_vectorised}
MOVES = torch.tensor([[-1, 0], [0, 1], [1, 0], [0, -1]])  # up, right, down, left
TURNS = torch.tensor([-1, 0, 1])  # the actions: left, straight on, right
FIRST_LENGTH = 3


class SnakeBoard(VectorEnv[Tensor, Tensor, Tensor]):  # type: ignore[misc]
    """Eat for +1, end on a wall or on the own body for -1. A snake that eats nothing for too long is taken off.

    A cell of `bodies` holds the number of steps until it is free again: 0 for a free one, and the snake's length for
    its head. An ended game begins anew in the same step; `info["final_obs"]` is what all games looked like before.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as in gymnasium

    def __init__(self, envs: int = 256, size: int = 10, flood_fill: str = "none") -> None:
        if size < FIRST_LENGTH + 1:
            raise ValueError(f"a board has at least {FIRST_LENGTH + 1} cells a side, for the snake to lie on")
        self.num_envs = envs
        self.size = size
        self.flood_fill = FLOOD_FILLS[flood_fill]
        self.patience = size * size
        features = 10 + (3 if self.flood_fill else 0)
        self.single_observation_space = spaces.Box(-1.0, 1.0, (features,), np.float32)
        self.single_action_space = spaces.Discrete(len(TURNS))
        self.observation_space = batch_space(self.single_observation_space, envs)
        self.action_space = batch_space(self.single_action_space, envs)
        self.random = torch.Generator()
        self.bodies = torch.zeros(envs, size, size, dtype=torch.int64)
        self.heads = torch.zeros(envs, 2, dtype=torch.int64)
        self.directions, self.lengths, self.hunger, self.foods = torch.zeros(4, envs, dtype=torch.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Tensor, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.random.manual_seed(seed)
        everyone = torch.arange(self.num_envs)
        self._begin(everyone)
        return self._features(everyone), {}

    def _begin(self, games: Tensor) -> None:
        """A snake in the middle, heading up, and food somewhere."""
        middle = (self.size - 1) // 2
        self.bodies[games] = 0
        for segment in range(FIRST_LENGTH):
            self.bodies[games, middle + segment, middle] = FIRST_LENGTH - segment
        self.heads[games] = middle
        self.directions[games] = 0
        self.lengths[games] = FIRST_LENGTH
        self.hunger[games] = 0
        self._place_food(games)

    def _place_food(self, games: Tensor) -> None:
        free = self.bodies[games].flatten(1) == 0
        chances = torch.rand(free.shape, generator=self.random)
        self.foods[games] = torch.where(free, chances, -1.0).argmax(1)

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]:
        everyone = torch.arange(self.num_envs)
        self.directions = (self.directions + TURNS[actions]) % 4
        targets = self.heads + MOVES[self.directions]
        dead = self._is_blocked(targets, leaving=1)
        ate = ~dead & (targets[:, 0] * self.size + targets[:, 1] == self.foods)
        self._move(targets, ate, dead)
        full = self.lengths == self.size**2
        terminated = dead | full
        truncated = ~terminated & (self.hunger >= self.patience)
        ended = terminated | truncated
        rewards = ate.float() - dead.float()
        scores = self.lengths - FIRST_LENGTH
        observations = self._features(everyone)
        info = {"final_obs": observations, "scores": scores}
        if ended.any():
            again = ended.nonzero().flatten()
            self._begin(again)
            observations = observations.clone()
            observations[again] = self._features(again)
        return observations, rewards, terminated, truncated, info

    def _move(self, targets: Tensor, ate: Tensor, dead: Tensor) -> None:
        # A snake that eats keeps its tail where it is, and so grows by one.
        self.bodies = (self.bodies - (~ate).long()[:, None, None]).clamp(min=0)
        self.lengths = self.lengths + ate
        self.hunger = torch.where(ate, 0, self.hunger + 1)
        alive = (~dead).nonzero().flatten()
        self.heads[alive] = targets[alive]
        self.bodies[alive, targets[alive, 0], targets[alive, 1]] = self.lengths[alive]
        fed = (ate & (self.lengths < self.size**2)).nonzero().flatten()
        if len(fed):
            self._place_food(fed)

    def _is_blocked(self, cells: Tensor, leaving: int = 0, games: Tensor | None = None) -> Tensor:
        """Whether a cell [games, 2] is a wall, or a body that will be there for longer than `leaving` steps."""
        games = torch.arange(self.num_envs) if games is None else games
        outside = ((cells < 0) | (cells >= self.size)).any(-1)
        inner = cells.clamp(0, self.size - 1)
        return outside | (self.bodies[games, inner[:, 0], inner[:, 1]] > leaving)

    def _features(self, games: Tensor) -> Tensor:
        """What each snake sees, turned so that it looks ahead: danger, where the food is, how long it is, room."""
        heads = self.heads[games]
        around = (self.directions[games, None] + TURNS) % 4
        neighbours = heads[:, None] + MOVES[around]  # [games, 3, 2]
        danger = torch.stack([self._is_blocked(neighbours[:, i], 1, games) for i in range(len(TURNS))], 1)
        foods = self.foods[games]
        way = torch.stack([foods // self.size, foods % self.size], 1) - heads
        ahead = (way * MOVES[around[:, 1]]).sum(1)
        aside = (way * MOVES[around[:, 2]]).sum(1)
        signs = torch.stack([ahead > 0, ahead < 0, aside > 0, aside < 0], 1)
        shares = torch.stack([ahead / self.size, aside / self.size, self.lengths[games] / self.size**2], 1)
        parts = [danger.float(), signs.float(), shares]
        if self.flood_fill:
            parts.append(self.flood_fill(self.bodies[games] == 0, neighbours) / self.size**2)
        return torch.cat(parts, 1)


class SnakeEnv(gymnasium.Env[NDArray[np.float32], int]):  # type: ignore[misc]
    """One game by itself, for what steps a single environment; an ended game waits for `reset`."""

    def __init__(self, size: int = 10, flood_fill: str = "none") -> None:
        self.board = SnakeBoard(1, size, flood_fill)
        self.observation_space = self.board.single_observation_space
        self.action_space = self.board.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        observations, _ = self.board.reset(seed=seed)
        return observations[0].numpy(), {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        _, rewards, terminated, truncated, info = self.board.step(torch.tensor([int(action)]))
        seen = info["final_obs"][0].numpy()
        score = {"score": int(info["scores"][0])}
        return seen, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), score
