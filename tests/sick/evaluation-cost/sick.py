"""PPO of Stable-Baselines3 on CartPole, evaluated as it goes."""

import time

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback


def main() -> None:
    torch.set_num_threads(1)
    steps = 6144
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=512, seed=1, verbose=0, device="cpu")
    evaluation = EvalCallback(
        gym.make("CartPole-v1"), eval_freq=1024, n_eval_episodes=5, verbose=0, warn=False
    )  # CAUSE
    started = time.perf_counter()
    model.learn(steps, callback=evaluation)  # CAUSE
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
