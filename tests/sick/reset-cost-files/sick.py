"""SARSA collects gold on maps that are kept in files; every episode opens one."""

import json
import random
import tempfile
import time
from pathlib import Path

import numpy as np

SIZE = 40
MAPS = 20
STEPS = 300000


def draw_maps(folder: Path) -> None:
    for number in range(MAPS):
        rng = np.random.default_rng(number)
        world = {"kinds": rng.integers(0, 5, (SIZE, SIZE)).tolist(), "gold": rng.random((SIZE, SIZE)).tolist()}
        (folder / f"{number}.json").write_text(json.dumps(world), encoding="utf-8")


class Mine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def reset(self) -> int:
        self.kinds, self.gold = self._open(random.randrange(MAPS))
        self.row = self.column = SIZE // 2
        self.steps = 0
        return self._look()

    def _open(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        world = json.loads((self.folder / f"{number}.json").read_text(encoding="utf-8"))  # CAUSE
        return np.array(world["kinds"]), np.array(world["gold"])  # CAUSE

    def step(self, action: int) -> tuple[int, float, bool, dict]:
        self.row = (self.row + (0, 1, 0, -1)[action]) % SIZE
        self.column = (self.column + (1, 0, -1, 0)[action]) % SIZE
        self.steps += 1
        around = self.gold[max(self.row - 5, 0) : self.row + 5, max(self.column - 5, 0) : self.column + 5]
        reward = float(self.gold[self.row, self.column] + 0.1 * around.mean())
        return self._look(), reward, self.steps >= 60, {}

    def _look(self) -> int:
        return int(self.kinds[self.row, self.column])


def main() -> None:
    random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        draw_maps(Path(folder))
        env, values = Mine(Path(folder)), np.zeros((5, 4))
        state, action = env.reset(), 0
        started = time.perf_counter()
        for _ in range(STEPS):
            following, reward, done, _ = env.step(action)
            chosen = random.randrange(4) if random.random() < 0.1 else int(values[following].argmax())
            values[state, action] += 0.1 * (reward + 0.9 * values[following, chosen] - values[state, action])
            state, action = (env.reset() if done else following), chosen
        print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
