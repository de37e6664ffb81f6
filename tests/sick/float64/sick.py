"""PPO on a pendulum with wide networks, whose observations are of double precision, and all behind them."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

ENVS, STEPS, ITERATIONS = 8, 64, 6


class Pendulum(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = gym.spaces.Box(-2.0, 2.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angle, self.speed, self.age = self.np_random.uniform(-np.pi, np.pi), 0.0, 0
        return self.observe(), {}

    def observe(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.speed])

    def step(self, action):
        push = float(np.clip(action[0], -2.0, 2.0))
        self.speed = float(np.clip(self.speed + 0.05 * (15.0 * np.sin(self.angle) + 3.0 * push), -8.0, 8.0))
        self.angle += 0.05 * self.speed
        self.age += 1
        cost = (((self.angle + np.pi) % (2 * np.pi)) - np.pi) ** 2 + 0.1 * self.speed**2
        return self.observe(), -cost, False, self.age >= 200, {}


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh())
        self.mean, self.value = nn.Linear(512, 1), nn.Linear(512, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, observations):
        hidden = self.trunk(observations)
        chances = torch.distributions.Normal(self.mean(hidden), self.log_std.exp(), validate_args=False)
        return chances, self.value(hidden).squeeze(-1)


def update(agent, optimizer, observations, actions, log_probs, advantages, returns):
    for _ in range(4):
        for rows in torch.randperm(len(actions)).split(128):
            chances, values = agent(observations[rows])
            ratio = (chances.log_prob(actions[rows]).sum(-1) - log_probs[rows]).exp()
            gain = torch.min(ratio * advantages[rows], ratio.clamp(0.8, 1.2) * advantages[rows]).mean()
            loss = 0.5 * (values - returns[rows]).pow(2).mean() - gain
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def advantages_of(rewards, values, following):
    advantages, last = torch.zeros_like(rewards), 0.0
    for step in reversed(range(STEPS)):
        after = values[step + 1] if step + 1 < STEPS else following
        last = rewards[step] + 0.99 * after - values[step] + 0.99 * 0.95 * last
        advantages[step] = last
    return advantages


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)  # CAUSE
    kind = torch.get_default_dtype()
    envs = gym.vector.SyncVectorEnv([Pendulum] * ENVS)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, foreach=False)
    seen = torch.as_tensor(envs.reset(seed=0)[0], dtype=kind)
    steps, started = 0, time.perf_counter()
    for _ in range(ITERATIONS):
        rows = []
        for _ in range(STEPS):
            with torch.no_grad():
                chances, values = agent(seen)
                actions = chances.sample()
                log_probs = chances.log_prob(actions).sum(-1)
            following, reward, _, _, _ = envs.step(actions.numpy())
            rows.append((seen, actions, log_probs, values, torch.as_tensor(reward, dtype=kind)))
            seen = torch.as_tensor(following, dtype=kind)
            steps += ENVS
        observations, actions, log_probs, values, rewards = (torch.stack(column) for column in zip(*rows, strict=True))
        with torch.no_grad():
            advantages = advantages_of(rewards, values, agent(seen)[1])
        flat = (observations.flatten(0, 1), actions.flatten(0, 1), log_probs.flatten(), advantages.flatten())
        update(agent, optimizer, *flat, (advantages + values).flatten())
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
