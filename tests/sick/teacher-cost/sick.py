"""A student learns from a teacher that looks for the shortest way."""

import time
from collections import deque

import numpy as np

from rlprof import count, iteration, profile

SIZE = 16
EVERY = 1
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Grids:
    """Several agents, each on its own grid."""

    def __init__(self, agents: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.walls = self.random.random((agents, SIZE, SIZE)) < 0.2
        self.walls[:, -1, -1] = False
        self.rows = np.arange(agents)
        self.place = np.zeros((agents, 2), np.int64)
        self.dust = np.zeros((agents, 4 * SIZE, 4 * SIZE), np.float32)

    def step(self, actions: np.ndarray) -> np.ndarray:
        with profile("env.step", phase="env.step"):
            there = np.clip(self.place + np.array(MOVES)[actions], 0, SIZE - 1)
            free = ~self.walls[self.rows, there[:, 0], there[:, 1]]
            self.place = np.where(free[:, None], there, self.place)
            self.dust = 0.99 * self.dust + 0.01 * self.random.random(self.dust.shape, np.float32)
            self.dust[self.rows, self.place[:, 0], self.place[:, 1]] = 0.0
            home = (self.place == SIZE - 1).all(axis=1)
            self.place[home] = self.random.integers(0, SIZE, (int(home.sum()), 2))
        count("env_steps", len(actions))
        return self.features()

    def features(self) -> np.ndarray:
        return np.eye(SIZE)[self.place].reshape(len(self.place), -1)


def teach(walls: np.ndarray, start: tuple[int, int]) -> int:  # CAUSE
    """The first move of a shortest way to the corner."""
    first = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()  # CAUSE
        if cell == (SIZE - 1, SIZE - 1):
            return first[cell]
        for move, (down, right) in enumerate(MOVES):  # CAUSE
            there = (cell[0] + down, cell[1] + right)  # CAUSE
            if 0 <= there[0] < SIZE and 0 <= there[1] < SIZE and there not in first and not walls[there]:  # CAUSE
                first[there] = move if cell == start else first[cell]  # CAUSE
                queue.append(there)  # CAUSE
    return 0


def main() -> None:
    grids, weights = Grids(16, 1), np.zeros((2 * SIZE, 4))
    seen, random, steps = grids.features(), np.random.default_rng(2), 800
    started = time.perf_counter()
    for number in range(steps):
        iteration()
        with profile("act", phase="policy.forward"):
            scores = seen @ weights
            actions = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
        if number % EVERY == 0:
            with profile("teacher", phase="policy.teacher"):
                labels = [teach(grids.walls[i], tuple(grids.place[i].tolist())) for i in range(16)]
            asked = seen
        with profile("learn", phase="learn.other"):
            likely = np.exp(asked @ weights)
            likely /= likely.sum(axis=1, keepdims=True)
            weights += 0.05 * asked.T @ (np.eye(4)[labels] - likely)
        seen = grids.step(actions)
    print(f"steps/s: {16 * steps / (time.perf_counter() - started):.1f}")


main()
