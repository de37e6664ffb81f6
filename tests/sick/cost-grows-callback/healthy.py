"""A2C with a callback that keeps a running maximum and a running mean."""

import time

import numpy as np
import torch
from stable_baselines3 import A2C
from stable_baselines3.common.callbacks import BaseCallback

STEPS = 16000


class RewardWatch(BaseCallback):
    """Remembers the best reward and the mean one."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.best, self.mean = -np.inf, 0.0

    def _on_step(self) -> bool:
        reward = float(self.locals["rewards"][0])
        self.count += 1
        self.best, self.mean = max(self.best, reward), self.mean + (reward - self.mean) / self.count
        return True


def main() -> None:
    torch.set_num_threads(1)
    model = A2C("MlpPolicy", "CartPole-v1", n_steps=16, seed=0, device="cpu")
    watch = RewardWatch()
    started = time.perf_counter()
    model.learn(STEPS, callback=watch)
    print(f"mean reward of a step: {watch.mean:.2f}")
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
