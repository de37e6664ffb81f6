"""DQN that fills its replay buffer first: once it learns, its steps take longer, and that is as it should be."""

import time

import torch
from stable_baselines3 import DQN

STEPS, LEARNING_STARTS = 44_000, 40_000


def main() -> None:
    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_starts=LEARNING_STARTS,
        train_freq=4,
        gradient_steps=2,
        buffer_size=50_000,
        seed=0,
        device="cpu",
    )
    started = time.perf_counter()
    model.learn(STEPS)
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
