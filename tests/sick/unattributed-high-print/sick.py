"""The cross-entropy method on CartPole tells of every single step."""

import sys
import time

import gymnasium as gym
import numpy as np

ROUNDS = 12
TRIED = 40


def play(env, weights: np.ndarray) -> tuple[float, int]:
    obs, _ = env.reset()
    total, steps, over = 0.0, 0, False
    while not over:
        action = int(obs @ weights > 0)
        obs, reward, terminated, truncated, _ = env.step(action)
        total += reward
        steps += 1
        over = terminated or truncated
        print(f"step {steps} saw {obs} did {action} got {reward} in all {total}", file=sys.stderr, flush=True)  # CAUSE
    return total, steps


def main() -> None:
    rng = np.random.default_rng(0)
    env = gym.make("CartPole-v1", max_episode_steps=100)
    env.reset(seed=0)
    mean, spread, steps = np.zeros(4), np.ones(4), 0
    started = time.perf_counter()
    for _ in range(ROUNDS):
        tried = mean + spread * rng.normal(size=(TRIED, 4))
        played = [play(env, weights) for weights in tried]
        steps += sum(count for _, count in played)
        best = tried[np.argsort([total for total, _ in played])[-8:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.01
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
