"""A robot learns its way through a warehouse and tidies up after each step."""

import gc
import random
import time

import numpy as np

SIZE = 24
STEPS = 22000


class Warehouse:
    """Shelves, carts that wander about, and a robot that looks for the goal."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.shelves = self.random.random((SIZE, SIZE)) < 0.2
        self.goal = (SIZE - 2, SIZE - 2)
        self.shelves[1:3, :] = self.shelves[:, -3:-1] = False

    def reset(self) -> np.ndarray:
        self.robot = (1, 1)
        self.carts = self.random.integers(0, SIZE, (120, 2))
        self.steps = 0
        return self._look()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict]:
        self.steps += 1
        self._drive(action)
        self._move_carts()
        reward = self._reward()
        done = self.robot == self.goal or self.steps >= 200
        return self._look(), reward, done, {}

    def _drive(self, action: int) -> None:
        row = min(max(self.robot[0] + (0, 1, 0, -1)[action], 0), SIZE - 1)
        column = min(max(self.robot[1] + (1, 0, -1, 0)[action], 0), SIZE - 1)
        if not self.shelves[row, column]:
            self.robot = (row, column)

    def _move_carts(self) -> None:
        ways = self.random.integers(-1, 2, self.carts.shape)
        there = np.clip(self.carts + ways, 0, SIZE - 1)
        free = ~self.shelves[there[:, 0], there[:, 1]]
        self.carts = np.where(free[:, None], there, self.carts)

    def _reward(self) -> float:
        crowd = np.abs(self.carts - np.array(self.robot)).sum(axis=1) < 2
        return -0.1 * float(crowd.sum()) - 0.01 * (
            abs(self.robot[0] - self.goal[0]) + abs(self.robot[1] - self.goal[1])
        )

    def _look(self) -> np.ndarray:
        picture = np.zeros((3, SIZE, SIZE), np.float32)
        picture[0] = self.shelves
        np.add.at(picture[1], (self.carts[:, 0], self.carts[:, 1]), 1.0)
        picture[2][self.robot] = 1.0
        blurred = picture[1].copy()
        blurred[1:] += 0.5 * picture[1][:-1]
        blurred[:-1] += 0.5 * picture[1][1:]
        blurred[:, 1:] += 0.5 * picture[1][:, :-1]
        blurred[:, :-1] += 0.5 * picture[1][:, 1:]
        picture[1] = np.minimum(blurred, 1.0)
        return picture


def main() -> None:
    env, values = Warehouse(1), {(row, column): [0.0] * 4 for row in range(SIZE) for column in range(SIZE)}
    seen: list[dict] = []
    env.reset()
    started = time.perf_counter()
    for number in range(STEPS):
        before, known = env.robot, values[env.robot]
        action = known.index(max(known)) if random.random() > 0.2 else random.randrange(4)
        _, reward, done, _ = env.step(action)
        known[action] += 0.1 * (reward + 0.98 * max(values[env.robot]) - known[action])
        seen.append({"at": before, "reward": [reward], "action": [action]})
        if number % 200 == 0:
            gc.collect()  # CAUSE
        if done:
            env.reset()
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
