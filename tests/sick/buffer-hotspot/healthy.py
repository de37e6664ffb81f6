"""DQN on CartPole with prioritised replay: the tree of priorities is walked for a whole batch at a time."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

STEPS, SIZE, BATCH = 5000, 8192, 64


class SumTree:
    """The leaves are priorities; every other node is the sum of the two below it."""

    def __init__(self):
        self.nodes = np.zeros(2 * SIZE)

    def put(self, leaf, priority):
        node = leaf + SIZE
        self.nodes[node] = priority
        while node > 1:
            node //= 2
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1]

    def find(self, masses):
        nodes = np.ones(len(masses), np.int64)
        while nodes[0] < SIZE:  # all leaves lie on one level
            nodes *= 2
            left = self.nodes[nodes]
            beyond = masses > left
            masses = masses - left * beyond
            nodes += beyond
        return nodes - SIZE


class Replay:
    def __init__(self, rng):
        self.rng, self.tree, self.added = rng, SumTree(), 0
        self.seen, self.following = np.zeros((SIZE, 4), np.float32), np.zeros((SIZE, 4), np.float32)
        self.actions, self.rewards, self.over = (
            np.zeros(SIZE, np.int64),
            np.zeros(SIZE, np.float32),
            np.zeros(SIZE, np.float32),
        )

    def add(self, seen, action, reward, following, over):
        at = self.added % SIZE
        self.seen[at], self.actions[at], self.rewards[at] = seen, action, reward
        self.following[at], self.over[at] = following, over
        self.tree.put(at, 1.0)
        self.added += 1

    def sample(self):
        chosen = self.tree.find((np.arange(BATCH) + self.rng.random(BATCH)) * (self.tree.nodes[1] / BATCH))
        fields = (self.seen, self.actions, self.rewards, self.following, self.over)
        return chosen, [torch.from_numpy(field[chosen]) for field in fields]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, replay = gym.make("CartPole-v1"), Replay(rng)
    values = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(values.parameters(), 1e-3)
    seen, _ = env.reset(seed=0)
    started = time.perf_counter()
    for step in range(STEPS):
        with torch.no_grad():
            best = int(values(torch.as_tensor(seen)).argmax())
        action = best if rng.random() > 0.1 else int(rng.integers(2))
        following, reward, terminated, truncated, _ = env.step(action)
        replay.add(seen, action, reward, following, terminated)
        seen = env.reset()[0] if terminated or truncated else following
        if step >= 200:
            _, (before, actions, rewards, after, over) = replay.sample()
            with torch.no_grad():
                target = rewards + 0.99 * (1.0 - over) * values(after).max(1).values
            loss = nn.functional.mse_loss(values(before).gather(1, actions[:, None])[:, 0], target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
