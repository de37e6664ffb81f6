"""A clipped policy gradient that asks about the whole rollout after each minibatch, to stop before it goes too far."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 2))

    def log_probabilities(self, observations: torch.Tensor) -> torch.Tensor:
        return self.body(observations).log_softmax(-1)


@torch.no_grad()
def distance(policy: Policy, observations: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    now = policy.log_probabilities(observations)  # CAUSE
    return (before.exp() * (before - now)).sum(-1).mean()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    count, steps, updates = 16, 128, 8
    envs = gym.make_vec("CartPole-v1", num_envs=count, vectorization_mode="vector_entry_point")
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), 3e-4, foreach=True)
    seen, _ = envs.reset(seed=0)
    begun = time.perf_counter()
    for _ in range(updates):
        observations, actions, before, rewards = [], [], [], []
        for _ in range(steps):
            with torch.no_grad():
                state = torch.from_numpy(seen.astype(np.float32))
                logs = policy.log_probabilities(state)
                action = torch.multinomial(logs.exp(), 1)
            seen, reward, *_ = envs.step(action.squeeze(1).numpy())
            observations.append(state)
            actions.append(action)
            before.append(logs)
            rewards.append(torch.from_numpy(reward.astype(np.float32)))
        gains = torch.stack(rewards).flip(0).cumsum(0).flip(0).flatten()
        states, chosen, old = torch.cat(observations), torch.cat(actions), torch.cat(before)
        gains = (gains - gains.mean()) / (gains.std() + 1e-6)
        for _ in range(8):
            for rows in torch.randperm(count * steps).split(64):
                new = policy.log_probabilities(states[rows])
                ratio = (new.gather(1, chosen[rows]) - old[rows].gather(1, chosen[rows])).exp().squeeze(1)
                loss = -torch.min(ratio * gains[rows], ratio.clamp(0.8, 1.2) * gains[rows]).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if distance(policy, states, old) > 1.0:
                    break
    print(f"steps/s: {updates * steps * count / (time.perf_counter() - begun):.1f}")


if __name__ == "__main__":
    main()
