"""Actor-critic on CartPole."""

import time

import gymnasium as gym
import torch
from torch import nn

COUNT, LENGTH, UPDATES = 16, 5, 700


def returns_of(rewards: list[torch.Tensor], lives: list[torch.Tensor], last: torch.Tensor) -> torch.Tensor:
    found = []
    for reward, alive in zip(rewards[::-1], lives[::-1], strict=True):
        last = reward + 0.99 * alive * last
        found.append(last)
    return torch.stack(found[::-1])


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    envs = gym.make_vec("CartPole-v1", num_envs=COUNT, vectorization_mode="vector_entry_point")
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=7e-4)
    observations, _ = envs.reset(seed=0)
    started = time.perf_counter()
    for _ in range(UPDATES):
        chances, values, entropies, rewards, lives = [], [], [], [], []
        for _ in range(LENGTH):
            out = net(torch.from_numpy(observations))
            logs, value = out[:, :2].log_softmax(-1), out[:, 2]
            actions = torch.multinomial(logs.detach().exp(), 1)
            chances.append(logs.gather(1, actions).squeeze(1))
            values.append(value)
            entropies.append(-(logs.exp() * logs).sum(-1))
            observations, reward, ended, cut, _ = envs.step(actions.squeeze(1).numpy())
            rewards.append(torch.from_numpy(reward).float())
            lives.append(torch.from_numpy(~(ended | cut)).float())
        with torch.no_grad():
            last = net(torch.from_numpy(observations))[:, 2]
        advantages = returns_of(rewards, lives, last) - torch.stack(values)
        loss = -(torch.stack(chances) * advantages.detach()).mean() + 0.5 * advantages.square().mean()
        loss = loss - 0.01 * torch.stack(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"steps/s: {UPDATES * LENGTH * COUNT / (time.perf_counter() - started):.1f}")


main()
