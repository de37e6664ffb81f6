"""REINFORCE on CartPole, tested on a few episodes now and then."""

import time

import gymnasium as gym
import torch
from torch import nn

EPISODES = 150


def run_test(env, policy, episodes: int) -> float:
    total = 0.0
    for _ in range(episodes):
        obs, _ = env.reset()
        over = False
        while not over:
            with torch.no_grad():
                action = int(policy(torch.from_numpy(obs)).argmax())
            obs, reward, terminated, truncated, _ = env.step(action)
            total += reward
            over = terminated or truncated
    return total / episodes


def play(env, policy) -> tuple[torch.Tensor, list[float]]:
    obs, _ = env.reset()
    log_probs, rewards, over = [], [], False
    while not over:
        chances = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)), validate_args=False)
        action = chances.sample()
        log_probs.append(chances.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(int(action))
        rewards.append(reward)
        over = terminated or truncated
    return torch.stack(log_probs), rewards


def learn(optimizer, log_probs: torch.Tensor, rewards: list[float]) -> None:
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.append(total)
    values = torch.tensor(returns[::-1])
    loss = -(log_probs * (values - values.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    env, other = (gym.make("CartPole-v1", max_episode_steps=60) for _ in range(2))
    policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    env.reset(seed=0)
    other.reset(seed=1)
    steps, best = 0, 0.0
    started = time.perf_counter()
    for number in range(EPISODES):
        log_probs, rewards = play(env, policy)
        learn(optimizer, log_probs, rewards)
        steps += len(rewards)
        if number % 50 == 49:
            best = max(best, run_test(other, policy, episodes=4))
    print(f"best test: {best:.1f}")
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
