"""Actor and critic on CartPole with large layers, in a container with one core: torch takes all of the machine."""

import os
import time

import gymnasium as gym
import torch
from torch import nn

ENVS, LENGTH, UPDATES = 16, 32, 24


def build(outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 768), nn.Tanh(), nn.Linear(768, 768), nn.Tanh(), nn.Linear(768, outputs))


def returns_of(rewards: torch.Tensor, ends: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    found = torch.zeros_like(rewards)
    for step in reversed(range(LENGTH)):
        last = rewards[step] + 0.99 * (1.0 - ends[step]) * last
        found[step] = last
    return found


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(max(os.cpu_count() or 1, 2))
    envs = gym.make_vec("CartPole-v1", num_envs=ENVS, vectorization_mode="sync")
    actor, critic = build(2), build(1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)
    observations = torch.as_tensor(envs.reset(seed=1)[0])
    started = time.perf_counter()
    for _ in range(UPDATES):
        seen = torch.zeros(LENGTH, ENVS, 4)
        actions = torch.zeros(LENGTH, ENVS, dtype=torch.int64)
        rewards, ends = torch.zeros(LENGTH, ENVS), torch.zeros(LENGTH, ENVS)
        for step in range(LENGTH):
            with torch.no_grad():
                chosen = torch.distributions.Categorical(logits=actor(observations), validate_args=False).sample()
            following, reward, terminated, truncated, _ = envs.step(chosen.numpy())
            seen[step], actions[step] = observations, chosen
            rewards[step] = torch.as_tensor(reward)
            ends[step] = torch.as_tensor(terminated | truncated).float()
            observations = torch.as_tensor(following)
        with torch.no_grad():
            returns = returns_of(rewards, ends, critic(observations).squeeze(-1)).flatten()
        for _ in range(4):
            policy = torch.distributions.Categorical(logits=actor(seen.flatten(0, 1)), validate_args=False)
            values = critic(seen.flatten(0, 1)).squeeze(-1)
            gains = returns - values.detach()
            loss = (returns - values).square().mean() - (policy.log_prob(actions.flatten()) * gains).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"steps/s: {UPDATES * LENGTH * ENVS / (time.perf_counter() - started):.1f}")


if __name__ == "__main__":
    main()
