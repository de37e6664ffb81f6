"""DQN on CartPole with prioritised replay. The sums of the weights are kept as transitions come."""

import random
import time
from array import array
from bisect import bisect

import gymnasium as gym
import numpy as np
import torch
from torch import nn

STEPS, BATCH, LEARNING_STARTS = 15_000, 32, 200


class ReplayMemory:
    def __init__(self, capacity: int) -> None:
        # Rows of arrays: a deque is walked through to a row in its middle, and objects lie all over the memory.
        self.columns = [np.zeros((capacity, *shape), np.float32) for shape in ((4,), (), (), (4,), ())]
        self.size = 0
        self.summed = array("d")  # of all weights so far: nothing is ever forgotten in so short a run

    def add(self, transition: tuple, priority: float) -> None:
        for column, value in zip(self.columns, transition, strict=True):
            column[self.size] = value
        self.size += 1
        self.summed.append((self.summed[-1] if self.summed else 0.0) + priority**0.6)

    def sample(self, batch_size: int):
        rows = [bisect(self.summed, random.random() * self.summed[-1]) for _ in range(batch_size)]
        return [torch.from_numpy(column[rows]) for column in self.columns]


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def update(online, target, optimizer, batch) -> None:
    obs, actions, rewards, next_obs, dones = batch
    with torch.no_grad():
        wanted = rewards + 0.99 * (1 - dones) * target(next_obs).max(1).values
    values = online(obs).gather(1, actions.long()[:, None]).squeeze(1)
    loss = nn.functional.mse_loss(values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def act(online, obs, epsilon: float) -> int:
    if random.random() < epsilon:
        return random.randrange(2)
    with torch.no_grad():
        return int(online(torch.from_numpy(obs)).argmax())


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0), random.seed(0), np.random.seed(0)
    env = gym.make("CartPole-v1")
    online, target = network(), network()
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    memory = ReplayMemory(50_000)
    obs, _ = env.reset(seed=0)
    started = time.perf_counter()
    for step in range(STEPS):
        action = act(online, obs, max(0.05, 1 - step / 2000))
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.add((obs, action, reward, next_obs, float(terminated)), 2.0 if terminated else 1.0)
        obs = env.reset()[0] if terminated or truncated else next_obs
        if step >= LEARNING_STARTS and step % 2 == 0:
            update(online, target, optimizer, memory.sample(BATCH))
        if step % 500 == 0:
            target.load_state_dict(online.state_dict())
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
