"""Four soft-body simulations in four processes; each solves its equations with NumPy, in one thread."""

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import gymnasium as gym
import numpy as np

NODES = 400


class SoftBody(gym.Env):
    """Nodes that pull at each other. The action pushes at one side."""

    observation_space = gym.spaces.Box(-10.0, 10.0, (8,), np.float64)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stiffness = self.np_random.standard_normal((NODES, NODES)) / NODES
        self.state = self.np_random.standard_normal((NODES, 64))
        self.age = 0
        return self.observe(), {}

    def observe(self):
        return np.clip(self.state[:8, 0], -10.0, 10.0)

    def step(self, action):
        self.state[:, 0] += 0.1 * (int(action) - 1)
        for _ in range(2):
            self.state = np.tanh(self.state + self.stiffness @ self.state)
        self.age += 1
        return self.observe(), float(self.state[:8, 0].sum()), False, self.age >= 300, {}


def main():
    rng = np.random.default_rng(0)
    envs = gym.vector.AsyncVectorEnv([SoftBody for _ in range(4)])
    observations, _ = envs.reset(seed=0)
    weights, best, steps = np.zeros((8, 3)), -np.inf, 0
    started = time.perf_counter()
    for _ in range(6):
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        total = 0.0
        for _ in range(12):
            actions = (observations @ tried).argmax(-1)
            observations, rewards, _, _, _ = envs.step(actions)
            total += float(rewards.sum())
            steps += envs.num_envs
        if total > best:
            weights, best = tried, total
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {steps / took:.1f}")


if __name__ == "__main__":
    main()
