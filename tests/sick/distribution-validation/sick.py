"""PPO in one file steers a fleet of boats."""

import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


class Fleet:
    """Many boats that are to reach the middle of a lake, moved together."""

    def __init__(self, boats: int, seed: int) -> None:
        self.boats = boats
        self.random = np.random.default_rng(seed)

    def reset(self) -> np.ndarray:
        self.place = self.random.uniform(-1.0, 1.0, (self.boats, 2)).astype(np.float32)
        self.speed = np.zeros((self.boats, 2), np.float32)
        self.age = np.zeros(self.boats, np.int64)
        return np.hstack([self.place, self.speed])

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict]:
        push = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)[actions]
        self.speed = 0.95 * self.speed + 0.01 * push
        self.place = np.clip(self.place + self.speed, -2.0, 2.0)
        self.age += 1
        away = np.abs(self.place).sum(axis=1)
        done = (away < 0.05) | (self.age >= 100)
        fresh = self.random.uniform(-1.0, 1.0, (self.boats, 2)).astype(np.float32)
        self.place = np.where(done[:, None], fresh, self.place)
        self.speed = np.where(done[:, None], np.float32(0), self.speed)
        self.age = np.where(done, 0, self.age)
        return np.hstack([self.place, self.speed]), -away, done, {}


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, observations: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        return Categorical(logits=self.actor(observations)), self.critic(observations).squeeze(-1)  # CAUSE


@torch.no_grad()
def compute_gae(rewards: torch.Tensor, values: torch.Tensor, ends: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    advantages = torch.zeros_like(rewards)
    running, following = torch.zeros_like(last), last
    for step in reversed(range(len(rewards))):
        goes_on = 1.0 - ends[step]
        surprise = rewards[step] + 0.98 * following * goes_on - values[step]
        running = surprise + 0.93 * goes_on * running
        advantages[step] = running
        following = values[step]
    return advantages


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    boats, length, updates = 4, 128, 40
    env, agent = Fleet(boats, 1), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    observations, actions = torch.zeros(length, boats, 4), torch.zeros(length, boats, dtype=torch.int64)
    log_probs, rewards, ends, values = (torch.zeros(length, boats) for _ in range(4))
    observation = torch.as_tensor(env.reset())
    started = time.perf_counter()
    for _ in range(updates):
        for step in range(length):
            with torch.no_grad():
                policy, value = agent(observation)
                action = policy.sample()
                log_probs[step] = policy.log_prob(action)  # CAUSE
            observations[step], actions[step], values[step] = observation, action, value
            following, reward, done, _ = env.step(action.numpy())
            rewards[step], ends[step] = torch.as_tensor(reward), torch.as_tensor(done)
            observation = torch.as_tensor(following)
        with torch.no_grad():
            last = agent(observation)[1]
        advantages = compute_gae(rewards, values, ends, last)
        returns = (advantages + values).flatten()
        for _ in range(4):
            for rows in torch.randperm(boats * length).split(64):
                policy, value = agent(observations.flatten(0, 1)[rows])
                ratio = (policy.log_prob(actions.flatten()[rows]) - log_probs.flatten()[rows]).exp()  # CAUSE
                gain = advantages.flatten()[rows]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                loss = loss + 0.5 * (value - returns[rows]).square().mean() - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    print(f"steps/s: {boats * length * updates / (time.perf_counter() - started):.1f}")


main()
