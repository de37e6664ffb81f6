"""Two TorchRL environments in workers, one three times as slow as the other."""

import time

import gymnasium as gym
import numpy as np
from torchrl.envs import ParallelEnv
from torchrl.envs.libs.gym import GymWrapper

STEPS = 120


class Slow(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, seconds):
        self.seconds = seconds

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(4, np.float32), {}

    def step(self, action):
        time.sleep(self.seconds)
        return np.zeros(4, np.float32), 1.0, False, False, {}


def fast():
    return GymWrapper(Slow(0.002))


def slow():
    return GymWrapper(Slow(0.006))


if __name__ == "__main__":
    env = ParallelEnv(2, [slow, fast])
    env.rollout(STEPS, break_when_any_done=False)
    env.close()
