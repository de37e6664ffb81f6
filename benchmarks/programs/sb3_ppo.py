"""Stable-Baselines3's PPO on CartPole, with environments in this process or, with `--subproc`, in processes."""

from __future__ import annotations

import argparse
import json
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv


class Training:
    def __init__(self, subproc: bool = False) -> None:
        torch.set_num_threads(1)
        backend, envs = (SubprocVecEnv, 4) if subproc else (DummyVecEnv, 8)
        self.env = make_vec_env("CartPole-v1", n_envs=envs, seed=1, vec_env_cls=backend)
        self.model = PPO("MlpPolicy", self.env, n_steps=128, batch_size=64, n_epochs=4, seed=1, verbose=1)

    def train(self, steps: int) -> int:
        """Train so many steps more, to the end of the rollout; how many it were."""
        before = self.model.num_timesteps
        self.model.learn(steps, reset_num_timesteps=False)
        return int(self.model.num_timesteps - before)

    def close(self) -> None:
        self.env.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--subproc", action="store_true")
    args = parser.parse_args()
    training = Training(args.subproc)
    start = time.perf_counter()
    steps = training.train(args.steps)
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)
    training.close()


if __name__ == "__main__":
    main()
