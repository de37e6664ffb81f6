"""A linear policy with random search in an own environment. The best score so far is kept up to date."""

import time

import gymnasium as gym
import numpy as np
from gymnasium import spaces

STEPS = 40_000


class Field(gym.Env):
    """A point that is to reach the middle of a field, and sees how far beacons are."""

    observation_space = spaces.Box(-10, 10, (16,), np.float32)
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self) -> None:
        angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        self.beacons = 3.0 * np.stack([np.cos(angles), np.sin(angles)], 1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.steps = self.np_random.uniform(-2, 2, 2), 0
        return self._see(), {}

    def step(self, action):
        for _ in range(8):
            drag = 1.0 - 0.1 * np.linalg.norm(self.place)
            self.place = np.clip(self.place + 0.02 * drag * np.clip(action, -1, 1), -3, 3)
        self.steps += 1
        distance = float(np.linalg.norm(self.place))
        return self._see(), -distance, distance < 0.1, self.steps >= 60, {}

    def _see(self):
        distances = np.linalg.norm(self.beacons - self.place, axis=1)
        noise = self.np_random.normal(0.0, 0.01, len(distances))
        return np.clip(distances + noise, -10, 10).astype(np.float32)


def main() -> None:
    env, random = Field(), np.random.default_rng(0)
    obs, _ = env.reset(seed=0)
    weights = random.normal(0.0, 0.1, (2, 16))
    tried, score, best, kept = weights, 0.0, -np.inf, -np.inf
    started = time.perf_counter()
    for _ in range(STEPS):
        obs, reward, terminated, truncated, _ = env.step(np.tanh(tried @ obs))
        score += reward
        best = max(best, score)
        if terminated or truncated:
            if score > kept:
                weights, kept = tried, score
            tried, score = weights + random.normal(0.0, 0.05, weights.shape), 0.0
            obs, _ = env.reset()
    print(f"best score after any step: {best:.2f}")
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
