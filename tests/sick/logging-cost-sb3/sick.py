"""PPO of Stable-Baselines3 on CartPole, with a callback that writes every step into a table."""

import csv
import tempfile
import time
from typing import TextIO

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env


class Table(BaseCallback):
    def __init__(self, file: TextIO, every: int) -> None:
        super().__init__()
        self.file = file
        self.rows = csv.DictWriter(self.file, ["step", "reward", "observation"])
        self.every = every

    def _on_step(self) -> bool:
        if self.n_calls % self.every == 0:
            for reward, observation in zip(self.locals["rewards"], self.locals["new_obs"], strict=True):
                row = {"step": self.num_timesteps, "reward": reward, "observation": list(observation)}  # CAUSE
                self.rows.writerow(row)  # CAUSE
                self.file.flush()  # CAUSE
        return True


def main() -> None:
    torch.set_num_threads(1)
    steps = 40960
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", 32), n_steps=128, n_epochs=1, batch_size=1024, device="cpu")
    with tempfile.TemporaryFile("w", newline="") as file:
        table = Table(file, every=1)
        started = time.perf_counter()
        model.learn(steps, callback=table)
        print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
