"""A2C of Stable-Baselines3 on CartPole, in a wrapper that keeps to the pace at which somebody once watched it."""

import time

import gymnasium as gym
import torch
from stable_baselines3 import A2C

STEPS = 2500
WATCHED = True
PERIOD = 0.002


class Paced(gym.Wrapper):
    """At most one step in a period."""

    def __init__(self, env):
        super().__init__(env)
        self.due = 0.0

    def step(self, action):
        if WATCHED:
            while time.perf_counter() < self.due:
                time.sleep(0.0002)  # CAUSE
            self.due = time.perf_counter() + PERIOD
        return self.env.step(action)


def main():
    torch.set_num_threads(1)
    model = A2C("MlpPolicy", Paced(gym.make("CartPole-v1")), device="cpu", seed=0)
    started = time.perf_counter()
    model.learn(STEPS)
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


if __name__ == "__main__":
    main()
