"""Stable-Baselines3's DQN on CartPole."""

from __future__ import annotations

import argparse
import json
import time

import torch
from stable_baselines3 import DQN


class Training:
    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.model = DQN(
            "MlpPolicy",
            "CartPole-v1",
            learning_rate=1e-3,
            batch_size=64,
            learning_starts=1000,
            train_freq=4,
            target_update_interval=500,
            seed=1,
            verbose=1,
        )

    def train(self, steps: int) -> int:
        """Train so many steps more; how many it were."""
        before = self.model.num_timesteps
        self.model.learn(steps, reset_num_timesteps=False)
        return int(self.model.num_timesteps - before)

    def close(self) -> None:
        self.model.get_env().close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30_000)
    args = parser.parse_args()
    training = Training()
    start = time.perf_counter()
    steps = training.train(args.steps)
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)
    training.close()


if __name__ == "__main__":
    main()
