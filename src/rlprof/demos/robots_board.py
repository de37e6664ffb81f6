"""Sliding robots: a robot goes on until something stops it, and one of them has to stop on the target.

As a gymnasium environment that shows the board as numbers or as a picture. The pictures are in robots_drawing.py.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .robots_drawing import Drawing

Cell = tuple[int, int]

SIZE = 16
DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
OBS_MODES = ("vector", "rgb_image")
CORNERS = 20  # pairs of walls on the board
LONGEST_WAY = 3  # slides of the first robot with which a target can be reached

SOLVED = 1.0
MOVE = -0.02
NO_MOVE = -0.05  # into what is next to the robot


class Board:
    """Cells with walls between them, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.walls = np.zeros((SIZE, SIZE, len(DIRECTIONS)), bool)
        self.walls[0, :, 0] = self.walls[:, -1, 1] = self.walls[-1, :, 2] = self.walls[:, 0, 3] = True
        for _ in range(CORNERS):
            cell = tuple(random.integers(1, SIZE - 1, size=2).tolist())
            side = int(random.integers(len(DIRECTIONS)))
            self._build(cell, side)
            self._build(cell, (side + 1) % len(DIRECTIONS))

    def _build(self, cell: Cell, side: int) -> None:
        """A wall has two sides."""
        down, right = DIRECTIONS[side]
        self.walls[cell[0], cell[1], side] = True
        self.walls[cell[0] + down, cell[1] + right, (side + 2) % len(DIRECTIONS)] = True

    def slide(self, robots: list[Cell], robot: int, side: int) -> Cell:
        """Where a robot comes to a stop."""
        down, right = DIRECTIONS[side]
        row, column = robots[robot]
        while not self.walls[row, column, side] and (row + down, column + right) not in robots:
            row, column = row + down, column + right
        return row, column


class RobotsEnv(gymnasium.Env[NDArray[Any], int]):  # type: ignore[misc]
    """Choose a robot and a direction; the first robot has to stop on the target. Robots stop each other."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - as in gymnasium

    def __init__(
        self, seed: int = 0, robots: int = 2, obs_mode: str = "rgb_image", image_size: int = 64, most_moves: int = 20
    ) -> None:
        self.board = Board(seed)
        self.drawing = Drawing(self.board.walls)
        self.obs_mode = obs_mode
        self.image_size = image_size
        self.most_moves = most_moves
        self.render_mode = "rgb_array"
        self.robots: list[Cell] = [(0, 0)] * robots
        self.action_space = spaces.Discrete(robots * len(DIRECTIONS))
        if obs_mode == "rgb_image":
            self.observation_space = spaces.Box(0, 255, (image_size, image_size, 3), np.uint8)
        else:
            self.observation_space = spaces.Box(-1.0, 1.0, (robots * 10 + 6,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[Any], Any]:
        super().reset(seed=seed)
        reachable: list[Cell] = []
        while not reachable:  # walls and the other robots may hold the first one where it is
            places = self.np_random.choice(SIZE * SIZE, len(self.robots), replace=False)
            self.robots = [divmod(int(place), SIZE) for place in places]
            reachable = self._reachable()
        self.target = reachable[int(self.np_random.integers(len(reachable)))]
        self.moves = 0
        return self._observe(), {}

    def _reachable(self) -> list[Cell]:
        """The cells on which the first robot can stop after some slides of its own."""
        found = [self.robots[0]]
        slid = 0
        for _ in range(LONGEST_WAY):
            for cell in found[slid:]:
                slid += 1
                stops = [self.board.slide([cell, *self.robots[1:]], 0, side) for side in range(len(DIRECTIONS))]
                found += [stop for stop in dict.fromkeys(stops) if stop not in found]
        return found[1:]

    def step(self, action: int) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        robot, side = divmod(int(action), len(DIRECTIONS))
        stop = self.board.slide(self.robots, robot, side)
        reward = MOVE if stop != self.robots[robot] else NO_MOVE
        self.robots[robot] = stop
        self.moves += 1
        solved = self.robots[0] == self.target
        truncated = not solved and self.moves >= self.most_moves
        info = {"solved": solved, "moves": self.moves}
        return self._observe(), reward + SOLVED * solved, solved, truncated, info

    def _observe(self) -> NDArray[Any]:
        if self.obs_mode == "rgb_image":
            return self.drawing.observation(self.robots, self.target, self.image_size)
        return self._numbers()

    def _numbers(self) -> NDArray[np.float32]:
        """Where each robot is and where it would stop, seen from the target; whether one slide is enough."""
        stops = [[self.board.slide(self.robots, robot, side) for side in range(4)] for robot in range(len(self.robots))]
        cells = [cell for robot, own in zip(self.robots, stops, strict=True) for cell in (robot, *own)]
        ways = (np.array(cells) - self.target).ravel() / SIZE
        enough = [float(stop == self.target) for stop in stops[0]]
        return np.array([*ways, *enough, *(place / SIZE for place in self.target)], np.float32)

    def render(self) -> NDArray[np.uint8]:
        return self.drawing.picture(self.robots, self.target)
