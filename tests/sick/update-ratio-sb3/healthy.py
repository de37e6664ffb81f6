"""DQN of Stable-Baselines3 on CartPole."""

import time

import torch
from stable_baselines3 import DQN


def main() -> None:
    torch.set_num_threads(1)
    steps = 600
    model = DQN("MlpPolicy", "CartPole-v1", learning_starts=100, train_freq=4, gradient_steps=1, seed=1, device="cpu")
    started = time.perf_counter()
    model.learn(steps)
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
