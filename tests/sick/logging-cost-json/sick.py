"""A linear policy learns CartPole by its score; every step is written to a file of JSON lines, and at once."""

import json
import tempfile
import time
from pathlib import Path

import gymnasium as gym
import numpy as np

EPISODES = 600


class Journal:
    def __init__(self, file: Path) -> None:
        self.file = file.open("w", encoding="utf-8")

    def write(self, **row) -> None:
        json.dump(row, self.file)  # CAUSE
        self.file.write("\n")
        self.file.flush()  # CAUSE


def main() -> None:
    rng = np.random.default_rng(0)
    env, weights = gym.make("CartPole-v1", max_episode_steps=100), np.zeros((2, 4))
    env.reset(seed=0)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "steps.jsonl")
        started = time.perf_counter()
        for episode in range(EPISODES):
            obs, _ = env.reset()
            slopes, total, over = [], 0.0, False
            while not over:
                chances = np.exp(weights @ obs - np.max(weights @ obs))
                chances /= chances.sum()
                action = int(rng.random() < chances[1])
                slopes.append(np.outer((np.arange(2) == action) - chances, obs))
                following, reward, terminated, truncated, _ = env.step(action)
                total += float(reward)
                over = terminated or truncated
                steps += 1
                journal.write(  # CAUSE
                    episode=episode, step=steps, obs=obs.tolist(), action=action, chances=chances.tolist(), total=total
                )
                obs = following
            weights += 0.01 * (total - 20.0) / 20.0 * np.mean(slopes, axis=0)
        print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")
        journal.file.close()


main()
