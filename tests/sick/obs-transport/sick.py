"""A search over pictures of four belts in processes of their own. Each picture comes through a pipe."""

import time

import gymnasium as gym
import numpy as np

SHARED = False


class Belt(gym.Env):
    """Parcels on a belt, seen from above in colour; the action sets the speed."""

    observation_space = gym.spaces.Box(0, 255, (480, 640, 3), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.age = self.np_random.random(20), 0
        self.friction = self.np_random.random(90_000)
        self.picture = np.zeros(self.observation_space.shape, np.uint8)
        return self.draw(), {}

    def draw(self):
        self.picture[200:280] = 40
        for number, place in enumerate(self.at):
            left = int(place * 620)
            self.picture[210:270, left : left + 18] = (90 + 8 * number, 200 - 8 * number, 120)
        return self.picture

    def step(self, action):
        slip = float(np.sin(self.friction + self.age).mean())
        self.at = (self.at + 0.004 * (1 + int(action)) + 0.001 * slip * self.np_random.random(20)) % 1.0
        gaps = np.diff(np.sort(self.at))
        self.age += 1
        return self.draw(), float(gaps.min()), False, self.age >= 500, {}


def main():
    rng = np.random.default_rng(0)
    envs = gym.vector.AsyncVectorEnv([Belt] * 4, shared_memory=SHARED)  # CAUSE
    pictures, _ = envs.reset(seed=0)
    weights, best, steps = np.zeros((64, 3)), -np.inf, 0
    started = time.perf_counter()
    while time.perf_counter() - started < 4.0:
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        total = 0.0
        for _ in range(10):
            seen = pictures[:, 240, ::10, 0].astype(np.float32)
            actions = (seen @ tried).argmax(-1)
            pictures, rewards, _, _, _ = envs.step(actions)  # CAUSE
            total += float(rewards.sum())
            steps += envs.num_envs
        if total > best:
            weights, best = tried, total
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {steps / took:.1f}")


if __name__ == "__main__":
    main()
