"""DQN of Stable-Baselines3 on CartPole that saves its replay buffer on the way."""

import tempfile
import time

import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import CheckpointCallback


def main() -> None:
    torch.set_num_threads(1)
    steps = 5000
    model = DQN("MlpPolicy", "CartPole-v1", learning_starts=500, buffer_size=400_000, seed=1, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        saving = CheckpointCallback(save_freq=100, save_path=folder, save_replay_buffer=True)  # CAUSE
        started = time.perf_counter()
        model.learn(steps, callback=saving)  # CAUSE
        print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
