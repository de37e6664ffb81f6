"""A gymnasium environment of a store, and a policy gradient that keeps it stocked."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Store(gym.Env):
    """Sells what it has of each article; orders come when the day is over."""

    def __init__(self, articles: int = 120) -> None:
        self.articles = articles
        self.observation_space = gym.spaces.Box(0.0, 100.0, (articles,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.day = 0
        self.stock = np.full(self.articles, 20.0, np.float32)
        return self.stock.copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.day += 1
        wanted = self.np_random.poisson(4.0, self.articles).astype(np.float32)
        sold = np.minimum(wanted, self.stock)
        self.stock = np.minimum(self.stock - sold + 2.0 * action, 100.0)
        observation = self.stock.copy()
        return observation, float(sold.sum() - 0.1 * self.stock.sum()), self.day >= 50, False, {}


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    steps = 40_000
    env = Store()
    policy = nn.Sequential(nn.Linear(120, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    observation, _ = env.reset(seed=1)
    seen, taken, rewards = [], [], []
    started = time.perf_counter()
    for _ in range(steps):
        with torch.no_grad():
            action = torch.multinomial(policy(torch.from_numpy(observation)).softmax(0), 1).item()
        seen.append(observation)
        taken.append(action)
        observation, reward, done, _, _ = env.step(action)
        rewards.append(reward)
        if done:
            returns = torch.from_numpy(np.cumsum(rewards[::-1])[::-1].astype(np.float32).copy())
            scores = policy(torch.from_numpy(np.stack(seen))).log_softmax(1)
            chosen = scores.gather(1, torch.from_numpy(np.array(taken))[:, None]).squeeze(1)
            loss = -(chosen * (returns - returns.mean()) / (returns.std() + 1e-8)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            observation, _ = env.reset()
            seen, taken, rewards = [], [], []
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
