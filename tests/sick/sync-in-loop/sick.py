"""Actor and critic steer a fleet of boats."""

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
        return Categorical(logits=self.actor(observations), validate_args=False), self.critic(observations).squeeze(-1)


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    boats, length, updates = 128, 16, 160
    env, agent = Fleet(boats, 1), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    observation = torch.as_tensor(env.reset())
    started = time.perf_counter()
    for _ in range(updates):
        seen, taken, rewards, ends = [], [], [], []
        for _ in range(length):
            with torch.no_grad():
                policy, value = agent(observation)
                action = policy.sample()
            chosen = np.array([action[boat].item() for boat in range(boats)])  # CAUSE
            following, reward, done, _ = env.step(chosen)
            mean_value = sum(value[boat].item() for boat in range(boats)) / boats  # CAUSE
            seen.append(observation)
            taken.append(action)
            rewards.append(torch.as_tensor(reward - 0.001 * mean_value))
            ends.append(torch.as_tensor(done))
            observation = torch.as_tensor(following)
        with torch.no_grad():
            gain = agent(observation)[1]
        targets = []
        for reward, end in zip(reversed(rewards), reversed(ends), strict=True):
            gain = reward + 0.98 * gain * ~end
            targets.insert(0, gain)
        policy, value = agent(torch.cat(seen))
        advantage = torch.cat(targets).float() - value
        loss = -(policy.log_prob(torch.cat(taken)) * advantage.detach()).mean() + advantage.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"steps/s: {boats * length * updates / (time.perf_counter() - started):.1f}")


main()
