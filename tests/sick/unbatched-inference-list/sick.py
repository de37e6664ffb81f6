"""REINFORCE with a list of poles that are balanced in turn."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, LENGTH, UPDATES = 32, 16, 72


def collect(
    envs: list[gym.Env], seen: np.ndarray, policy: nn.Module
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    observations, actions = torch.zeros(LENGTH, ENVS, 4), torch.zeros(LENGTH, ENVS, dtype=torch.int64)
    rewards = torch.zeros(LENGTH, ENVS)
    for step in range(LENGTH):
        chosen = {}
        for number, env in enumerate(envs):
            observations[step, number] = row = torch.as_tensor(seen[number])
            with torch.no_grad():
                action = Categorical(logits=policy(row), validate_args=False).sample()  # CAUSE
            actions[step, number], chosen[number] = action, int(action)
            seen[number], rewards[step, number], terminated, truncated, _ = env.step(chosen[number])
            if terminated or truncated:
                seen[number] = env.reset()[0]
    return observations, actions, rewards


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    envs = [gym.make("CartPole-v1") for _ in range(ENVS)]
    seen = np.stack([env.reset(seed=number)[0] for number, env in enumerate(envs)])
    policy = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    started = time.perf_counter()
    for _ in range(UPDATES):
        observations, actions, rewards = collect(envs, seen, policy)
        chances = Categorical(logits=policy(observations), validate_args=False)
        loss = -(chances.log_prob(actions) * rewards.flip(0).cumsum(0).flip(0)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"steps/s: {ENVS * LENGTH * UPDATES / (time.perf_counter() - started):.1f}")


main()
