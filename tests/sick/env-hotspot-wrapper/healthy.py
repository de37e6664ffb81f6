"""Q-learning in a maze, behind a wrapper that keeps what the last steps were about."""

import random
import time

import gymnasium as gym
import numpy as np

SIZE = 20
STEPS = 16000


class Maze(gym.Env):
    observation_space = gym.spaces.Discrete(SIZE * SIZE)
    action_space = gym.spaces.Discrete(4)

    def __init__(self) -> None:
        self.heat = np.random.default_rng(0).random((SIZE, SIZE))

    def reset(self, *, seed=None, options=None) -> tuple[int, dict]:
        super().reset(seed=seed)
        self.row = self.column = self.steps = 0
        return 0, self._about()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
        self.steps += 1
        self.row = min(max(self.row + (0, 1, 0, -1)[action], 0), SIZE - 1)
        self.column = min(max(self.column + (1, 0, -1, 0)[action], 0), SIZE - 1)
        self.heat = 0.99 * self.heat + 0.01 * np.roll(self.heat, 1, axis=action % 2)
        found = (self.row, self.column) == (SIZE - 1, SIZE - 1)
        reward = 100.0 * found - float(self.heat[self.row, self.column])
        return self.row * SIZE + self.column, reward, found, self.steps >= 300, self._about()

    def _about(self) -> dict:
        return {"place": [self.row, self.column], "rows": {row: self.heat[row].tolist() for row in range(4)}}


class History(gym.Wrapper):
    """Gives the infos of the last steps with each step."""

    def reset(self, **options) -> tuple[int, dict]:
        self.last: list[dict] = []
        return self.env.reset(**options)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.last = [*self.last[-3:], info]
        return observation, reward, terminated, truncated, {"last": tuple(self.last)}


def main() -> None:
    random.seed(0)
    env = gym.wrappers.RecordEpisodeStatistics(History(Maze()))
    values = np.zeros((SIZE * SIZE, 4))
    state, _ = env.reset(seed=0)
    started = time.perf_counter()
    for _ in range(STEPS):
        action = random.randrange(4) if random.random() < 0.1 else int(values[state].argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        target = reward + 0.99 * values[following].max() * (not terminated)
        values[state, action] += 0.1 * (target - values[state, action])
        state = env.reset()[0] if terminated or truncated else following
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
