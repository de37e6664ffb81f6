"""REINFORCE on CartPole. Every episode's loss is kept for a curve, and with each the graph that it came from."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

EPISODES = 1000


def returns_of(rewards: list) -> torch.Tensor:
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.append(total)
    values = torch.tensor(returns[::-1])
    return (values - values.mean()) / (values.std() + 1e-8)


def play(env, policy) -> tuple:
    obs, _ = env.reset()
    log_probs, rewards, over = [], [], False
    while not over:
        chances = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
        action = chances.sample()
        log_probs.append(chances.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(int(action))
        rewards.append(reward)
        over = terminated or truncated
    return torch.stack(log_probs), rewards


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = gym.make("CartPole-v1", max_episode_steps=40)
    policy = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    env.reset(seed=0)
    losses, steps = [], 0
    started = time.perf_counter()
    for _ in range(EPISODES):
        log_probs, rewards = play(env, policy)
        loss = -(log_probs * returns_of(rewards)).sum()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss)
        steps += len(rewards)
    print(f"mean of the last losses: {np.mean([float(loss) for loss in losses[-20:]]):.3f}")
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
