"""A grid on which several agents gather crates, carry them and deposit them, as a gymnasium environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Floats = NDArray[np.float32]

STAY, UP, RIGHT, DOWN, LEFT, WORK = range(6)
MOVES = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}

SIGHT = 3  # cells that an agent sees in each direction
SIDE = 2 * SIGHT + 1
WALL, CRATE, DEPOT, OTHER = range(4)  # the planes of what it sees
SEEN = 4 * SIDE * SIDE
CARRIES, TO_DEPOT, TO_CRATE, TIME = SEEN, SEEN + 1, SEEN + 3, SEEN + 5  # what comes behind them
FEATURES = SEEN + 6

GATHERED = 0.25
DEPOSITED = 1.0


@dataclass(frozen=True)
class GridSize:
    """How large a grid is, and who and what is on it."""

    cells: int = 10  # of a side
    agents: int = 4
    crates: int = 8
    walls: float = 0.12  # share of the cells
    steps: int = 60  # of an episode at most


class GatherEnv(gymnasium.Env[Floats, NDArray[np.int64]]):  # type: ignore[misc]
    """Each agent moves by one cell, or works: takes up a crate where one lies, sets it down at the depot.

    An agent carries one crate at a time. Each sees the cells around it, whether it carries, and in which direction the
    depot and the nearest crate are. The reward is that of all agents together, `info["rewards"]` has each agent's own.
    An episode ends when every crate is at the depot. Agents may stand on the same cell.
    """

    def __init__(self, size: GridSize | None = None) -> None:
        self.size = size or GridSize()
        self.observation_space = spaces.Box(-1.0, 1.0, (self.size.agents, FEATURES), np.float32)
        self.action_space = spaces.MultiDiscrete([6] * self.size.agents)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed)
        size = self.size
        room: list[tuple[int, int]] = []
        while len(room) < size.crates + 2:
            walls = self.np_random.random((size.cells, size.cells)) < size.walls
            depot = tuple(self.np_random.integers(size.cells, size=2).tolist())
            walls[depot] = False
            room = reachable(walls, depot)
        # A margin as wide as the agents can see: what is beyond the grid looks like a wall.
        self.planes = np.zeros((4, size.cells + 2 * SIGHT, size.cells + 2 * SIGHT), np.float32)
        self.planes[WALL] = np.pad(walls, SIGHT, constant_values=True)
        self.depot = np.array(depot) + SIGHT
        self.planes[DEPOT][tuple(self.depot)] = 1.0
        for place in self.np_random.choice(np.array(room[1:]), size.crates, replace=False):
            self.planes[CRATE][tuple(place + SIGHT)] = 1.0
        self.agents = self.np_random.choice(np.array(room), size.agents) + SIGHT
        np.add.at(self.planes[OTHER], tuple(self.agents.T), 1.0)
        self.carries = np.zeros(size.agents, bool)
        self.delivered = 0
        self.steps = 0
        return self._observe(), self._info(np.zeros(size.agents, np.float32))

    def step(self, action: NDArray[np.int64]) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        rewards = np.zeros(self.size.agents, np.float32)
        for agent, choice in enumerate(action):
            if choice == WORK:
                rewards[agent] = self._work(agent)
            elif choice != STAY:
                self._move(agent, MOVES[int(choice)])
        self.steps += 1
        terminated = self.delivered == self.size.crates
        truncated = not terminated and self.steps >= self.size.steps
        return self._observe(), float(rewards.sum()), terminated, truncated, self._info(rewards)

    def _info(self, rewards: Floats) -> dict[str, Any]:
        return {"rewards": rewards, "delivered": self.delivered}

    def _work(self, agent: int) -> float:
        place = tuple(self.agents[agent])
        if self.carries[agent] and self.planes[DEPOT][place]:
            self.carries[agent] = False
            self.delivered += 1
            return DEPOSITED
        if not self.carries[agent] and self.planes[CRATE][place]:
            self.carries[agent] = True
            self.planes[CRATE][place] = 0.0
            return GATHERED
        return 0.0

    def _move(self, agent: int, way: tuple[int, int]) -> None:
        here = tuple(self.agents[agent])
        there = here[0] + way[0], here[1] + way[1]
        if not self.planes[WALL][there]:
            self.planes[OTHER][here] -= 1.0
            self.planes[OTHER][there] += 1.0
            self.agents[agent] = there

    def _observe(self) -> Floats:
        seen = np.zeros((self.size.agents, FEATURES), np.float32)
        crates = np.argwhere(self.planes[CRATE])
        for agent, (row, column) in enumerate(self.agents):
            around = self.planes[:, row - SIGHT : row + SIGHT + 1, column - SIGHT : column + SIGHT + 1]
            seen[agent, :SEEN] = np.minimum(around, 1.0).ravel()
            if len(crates):
                ways = crates - (row, column)
                seen[agent, TO_CRATE : TO_CRATE + 2] = ways[np.abs(ways).sum(1).argmin()] / self.size.cells
        seen[:, CARRIES] = self.carries
        seen[:, TO_DEPOT : TO_DEPOT + 2] = (self.depot - self.agents) / self.size.cells
        seen[:, TIME] = self.steps / self.size.steps
        return seen


def reachable(walls: NDArray[np.bool_], start: tuple[int, ...]) -> list[tuple[int, int]]:
    """The cells that can be reached from a cell, itself the first."""
    found = [(start[0], start[1])]
    for row, column in found:  # grows while it is walked
        for down, right in MOVES.values():
            cell = row + down, column + right
            inside = 0 <= cell[0] < walls.shape[0] and 0 <= cell[1] < walls.shape[1]
            if inside and not walls[cell] and cell not in found:
                found.append(cell)
    return found
