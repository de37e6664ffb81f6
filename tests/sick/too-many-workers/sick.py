"""A search over 48 small factories. There is a worker process for each of them, on however few cores."""

import time

import gymnasium as gym
import numpy as np

FACTORIES = 48
WORKERS = 48


class Factories(gym.Env):
    """Some factories side by side; each makes its own parts, machine by machine."""

    def __init__(self, count):
        self.count = count
        self.observation_space = gym.spaces.Box(0.0, np.inf, (count, 8), np.float32)
        self.action_space = gym.spaces.MultiDiscrete([4] * count)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stock = [[1.0 + float(self.np_random.random()) for _ in range(8)] for _ in range(self.count)]
        self.age = 0
        return np.array(self.stock, np.float32), {}

    def step(self, action):
        made = 0.0
        for stock, chosen in zip(self.stock, action, strict=True):
            for hour in range(60):
                for machine in range(8):
                    rate = 0.05 if machine == 2 * chosen else 0.02
                    moved = min(stock[machine], rate * (1 + hour % 3))
                    stock[machine] -= moved
                    stock[(machine + 1) % 8] += moved
                    made += moved
        self.age += 1
        return np.array(self.stock, np.float32), made, False, self.age >= 1000, {}


def main():
    rng = np.random.default_rng(0)
    each = FACTORIES // WORKERS
    envs = gym.vector.AsyncVectorEnv([lambda: Factories(each) for _ in range(WORKERS)])  # CAUSE
    observations, _ = envs.reset(seed=0)
    weights, best, steps = np.zeros((8, 4)), -np.inf, 0
    started = time.perf_counter()
    while time.perf_counter() - started < 4.0:
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        total = 0.0
        for _ in range(10):
            actions = (observations @ tried).argmax(-1)
            observations, rewards, _, _, _ = envs.step(actions)  # CAUSE
            total += float(rewards.sum())
            steps += FACTORIES
        if total > best:
            weights, best = tried, total
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {steps / took:.1f}")


if __name__ == "__main__":
    main()
