"""DQN by hand on CartPole with 4 environments."""

import random
import time
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    count, steps = 4, 2500
    envs = gym.make_vec("CartPole-v1", num_envs=count, vectorization_mode="sync")
    online, target = build(), build()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    memory: deque = deque(maxlen=20_000)
    observations, _ = envs.reset(seed=1)
    started = time.perf_counter()
    for step in range(steps):
        with torch.no_grad():
            actions = online(torch.from_numpy(observations)).argmax(1).numpy()
        actions = np.where(np.random.random(count) < 0.1, np.random.randint(0, 2, count), actions)
        following, rewards, ended, _, _ = envs.step(actions)
        memory.extend(zip(observations, actions, rewards, following, ended, strict=True))
        observations = following
        if step < 50 or step % 2 != 0:
            continue
        batch = random.sample(memory, 128)
        states = torch.from_numpy(np.stack([entry[0] for entry in batch]))
        taken = torch.from_numpy(np.array([entry[1] for entry in batch]))
        reward = torch.from_numpy(np.array([entry[2] for entry in batch], np.float32))
        later = torch.from_numpy(np.stack([entry[3] for entry in batch]))
        ends = torch.from_numpy(np.array([entry[4] for entry in batch], np.float32))
        with torch.no_grad():
            goal = reward + 0.99 * (1 - ends) * target(later).max(1).values
        value = online(states).gather(1, taken[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            target.load_state_dict(online.state_dict())
    print(f"steps/s: {count * steps / (time.perf_counter() - started):.1f}")


main()
