"""A policy search over four traffic simulations that are stepped in processes of their own."""

import time

import gymnasium as gym
import numpy as np

CARS = 60


class Traffic(gym.Env):
    """Cars on a ring; the action sets the speed limit. One step follows every car for two and a half seconds."""

    observation_space = gym.spaces.Box(0.0, 1.0, (4,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position = sorted(float(place) for place in self.np_random.random(CARS))
        self.speed = [0.01] * CARS
        self.age = 0
        return self.observe(), {}

    def observe(self):
        speeds = self.speed
        return np.array([min(speeds), max(speeds), sum(speeds) / CARS, self.age / 500], np.float32)

    def step(self, action):
        limit = (0.008, 0.012, 0.02)[int(action)]
        for _ in range(150):
            self.drive(limit)
        self.age += 1
        return self.observe(), sum(self.speed), False, self.age >= 500, {}

    def drive(self, limit):
        position, speed = self.position, self.speed
        for car in range(CARS):
            gap = (position[(car + 1) % CARS] - position[car]) % 1.0
            speed[car] += 0.1 * (min(limit, gap) - speed[car])
        for car in range(CARS):
            position[car] = (position[car] + 0.1 * speed[car]) % 1.0


def main():
    rng = np.random.default_rng(0)
    envs = gym.vector.AsyncVectorEnv([Traffic for _ in range(4)])
    observations, _ = envs.reset(seed=0)
    weights, best, steps = np.zeros((4, 3)), -np.inf, 0
    started = time.perf_counter()
    for _ in range(100):
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        total = 0.0
        for _ in range(10):
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
