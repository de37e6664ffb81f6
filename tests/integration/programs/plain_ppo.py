"""A policy gradient on CartPole that knows nothing of rlprof: some turns of 100 steps and 5 updates each."""

import sys

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

STEPS = 100
UPDATES = 5


def main(turns: int) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = gym.make("CartPole-v1")
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    observation, _ = env.reset(seed=0)
    for turn in range(turns):
        before_turn(turn)
        seen, chosen, rewards = [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                action = Categorical(logits=policy(torch.as_tensor(observation)), validate_args=False).sample()
            following, reward, terminated, truncated, _ = env.step(int(action))
            seen.append(observation)
            chosen.append(action)
            rewards.append(reward)
            observation = env.reset()[0] if terminated or truncated else following
        gains = torch.as_tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
        for _ in range(UPDATES):
            chances = Categorical(logits=policy(torch.as_tensor(np.array(seen))), validate_args=False)
            loss = -(chances.log_prob(torch.stack(chosen)) * gains).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(turn, loss.item(), float(observation[0]))


def before_turn(turn: int) -> None:
    """A program that is derived from this one profiles itself here."""


if __name__ == "__main__":
    main(int(sys.argv[1]))
