"""DQN on a camera of 64 by 64 pixels, which a wrapper makes smaller one corner at a time."""

import time

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN

STEPS, WIDE, SMALL = 3000, 64, 16
PART = WIDE // SMALL


class Camera(gym.Env):
    """A spot wanders about. The action says where it will be next: left, middle or right."""

    observation_space = gym.spaces.Box(0, 255, (WIDE, WIDE), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.spot, self.age = np.array([32, 32]), 0
        return self.picture(), {}

    def picture(self):
        seen = np.zeros((WIDE, WIDE), np.uint8)
        row, column = self.spot
        seen[max(row - 4, 0) : row + 4, max(column - 4, 0) : column + 4] = 255
        return seen

    def step(self, action):
        self.spot = (self.spot + self.np_random.integers(-3, 4, 2)) % WIDE
        self.age += 1
        return self.picture(), float(int(self.spot[1]) * 3 // WIDE == int(action)), False, self.age >= 100, {}


class Smaller(gym.ObservationWrapper):
    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0, 255, (SMALL * SMALL,), np.uint8)

    def observation(self, observation):
        small = np.zeros((SMALL, SMALL), np.uint8)
        for row in range(SMALL):
            for column in range(SMALL):
                down, right = PART * row, PART * column
                small[row, column] = observation[down : down + PART, right : right + PART].mean()  # CAUSE
        return small.ravel()


def main():
    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy", Smaller(Camera()), learning_starts=100, buffer_size=5000, train_freq=8, seed=1, device="cpu"
    )
    started = time.perf_counter()
    model.learn(STEPS)
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
