"""DQN by hand on CartPole with 32 environments."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


class Replay:
    """The last transitions, in arrays that are there from the beginning."""

    def __init__(self, size: int) -> None:
        self.states = np.zeros((size, 4), np.float32)
        self.following = np.zeros((size, 4), np.float32)
        self.actions = np.zeros(size, np.int64)
        self.rewards = np.zeros(size, np.float32)
        self.ends = np.zeros(size, np.float32)
        self.size, self.held, self.at = size, 0, 0

    def add(self, states, actions, rewards, following, ends) -> None:
        rows = np.arange(self.at, self.at + len(states)) % self.size
        self.states[rows], self.following[rows] = states, following
        self.actions[rows], self.rewards[rows], self.ends[rows] = actions, rewards, ends
        self.at = (self.at + len(states)) % self.size
        self.held = min(self.held + len(states), self.size)

    def sample(self, count: int) -> tuple[torch.Tensor, ...]:
        rows = np.random.randint(0, self.held, count)
        columns = (self.states, self.actions, self.rewards, self.following, self.ends)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    count, steps = 32, 2500
    envs = gym.make_vec("CartPole-v1", num_envs=count, vectorization_mode="sync")
    online, target = build(), build()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = Replay(20_000)
    observations, _ = envs.reset(seed=1)
    started = time.perf_counter()
    for step in range(steps):
        with torch.no_grad():
            values = online(torch.from_numpy(observations))
        best = values.argmax(1)
        highest = values.max(1).values
        actions, judged = np.zeros(count, np.int64), 0.0
        for i in range(count):
            actions[i] = best[i].item()  # CAUSE
            judged += highest[i].item() - values[i].mean().item()  # CAUSE
        actions = np.where(np.random.random(count) < 0.1, np.random.randint(0, 2, count), actions)
        following, rewards, ended, _, _ = envs.step(actions)
        replay.add(observations, actions, rewards, following, ended)
        observations = following
        if step < 50 or step % 4 != 0:
            continue
        states, taken, reward, later, ends = replay.sample(128)
        with torch.no_grad():
            goal = reward + 0.99 * (1 - ends) * target(later).max(1).values
        value = online(states).gather(1, taken[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            target.load_state_dict(online.state_dict())
    print(f"the better action is better by {judged / count:.3f}")
    print(f"steps/s: {count * steps / (time.perf_counter() - started):.1f}")


main()
