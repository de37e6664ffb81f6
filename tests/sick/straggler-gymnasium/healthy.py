"""Four rovers that look around with a lidar, in four processes."""

import math
import time

import gymnasium as gym
import numpy as np


class Rover(gym.Env):
    """A rover in a round arena; it sees the distance to the wall in eight directions."""

    observation_space = gym.spaces.Box(0.0, 20.0, (8,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def __init__(self, rays):
        self.rays = rays

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.y = (float(value) for value in self.np_random.uniform(-3.0, 3.0, 2))
        self.age = 0
        return self.scan(), {}

    def scan(self):
        seen = [20.0] * 8
        for ray in range(self.rays):
            angle = 2.0 * math.pi * ray / self.rays
            across, along = math.cos(angle), math.sin(angle)
            shade = self.x * across + self.y * along
            distance = -shade + math.sqrt(max(shade * shade + 100.0 - self.x**2 - self.y**2, 0.0))
            direction = 8 * ray // self.rays
            seen[direction] = min(seen[direction], distance)
        return np.array(seen, np.float32)

    def step(self, action):
        self.x += (0.2, -0.2, 0.0, 0.0)[int(action)]
        self.y += (0.0, 0.0, 0.2, -0.2)[int(action)]
        self.age += 1
        view = self.scan()
        return view, float(view.min()), bool(math.hypot(self.x, self.y) > 9.0), self.age >= 200, {}


def main():
    rng = np.random.default_rng(0)
    rays = [900, 900, 900, 900]
    envs = gym.vector.AsyncVectorEnv([lambda count=count: Rover(count) for count in rays])
    observations, _ = envs.reset(seed=0)
    weights, best, steps = np.zeros((8, 4)), -np.inf, 0
    started = time.perf_counter()
    for _ in range(30):
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        total = 0.0
        for _ in range(20):
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
