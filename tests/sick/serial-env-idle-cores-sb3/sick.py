"""A2C of Stable-Baselines3 on two orchards whose trees are grown one by one, in plain Python."""

import time

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv


class Orchard(gym.Env):
    """Rows of trees; the action says how much water they get this week."""

    observation_space = gym.spaces.Box(0.0, 100.0, (4,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.heights = [1.0 + float(extra) for extra in self.np_random.random(900)]
        self.week = 0
        return self.look(), {}

    def look(self):
        tall = self.heights
        return np.array([min(tall), max(tall), sum(tall) / len(tall), self.week], np.float32).clip(0.0, 100.0)

    def step(self, action):
        water = 0.5 + 0.5 * int(action)
        for _ in range(7):
            for tree, height in enumerate(self.heights):
                self.heights[tree] = height + 0.01 * water * (1.0 - height / (5.0 + tree % 7)) ** 2
        self.week += 1
        return self.look(), sum(self.heights) / 900.0 - water, False, self.week >= 100, {}


def main():
    torch.set_num_threads(1)
    envs = make_vec_env(Orchard, n_envs=2, seed=0, vec_env_cls=DummyVecEnv)
    model = A2C("MlpPolicy", envs, n_steps=16, seed=0, device="cpu")
    steps = 2400
    started = time.perf_counter()
    model.learn(steps)  # CAUSE
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {steps / took:.1f}")


if __name__ == "__main__":
    main()
