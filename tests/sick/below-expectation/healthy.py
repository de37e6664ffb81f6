"""A search for a controller of an oven. The plate is as fine as its control needs it."""

import time

import gymnasium as gym
import numpy as np

CELLS = 80  # along each side


class Oven(gym.Env):
    """The action heats the middle of a plate; its rim is to stay at one degree."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.plate, self.heat, self.age = np.zeros((CELLS, CELLS)), 0.0, 0
        return self.observe(), {}

    def observe(self):
        return np.array([self.plate[1].mean(), self.heat], np.float32)

    def step(self, action):
        self.heat = min(max(self.heat + 0.5 * (int(action) - 1), 0.0), 9.0)
        middle = slice(3 * CELLS // 8, 5 * CELLS // 8)
        self.plate[middle, middle] += self.heat
        inner = self.plate[1:-1, 1:-1]
        flow = self.plate[:-2, 1:-1] + self.plate[2:, 1:-1] + self.plate[1:-1, :-2] + self.plate[1:-1, 2:] - 4.0 * inner
        self.plate[1:-1, 1:-1] += 0.2 * flow
        self.age += 1
        return self.observe(), -abs(float(self.plate[1].mean()) - 1.0), False, self.age >= 100, {}


def play(env, weights):
    obs, _ = env.reset()
    total, steps, over = 0.0, 0, False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(int((obs @ weights).argmax()))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    return total, steps


def main():
    rng = np.random.default_rng(0)
    env = Oven()
    env.reset(seed=0)
    best, kept, steps = -np.inf, np.zeros((2, 3)), 0
    started = time.perf_counter()
    while time.perf_counter() - started < 4.0:
        tried = kept + 0.3 * rng.standard_normal(kept.shape)
        total, played = play(env, tried)
        steps += played
        if total > best:
            best, kept = total, tried
    print(f"best return: {best:.2f}")
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


if __name__ == "__main__":
    main()
