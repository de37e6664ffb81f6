"""REINFORCE on CartPole whose compiled loss always sees the same number of steps."""

import time

import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
LONGEST = 500


@torch.compile(backend="eager", dynamic=False)
def loss_of(observations: torch.Tensor, actions: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    chosen = torch.log_softmax(policy(observations), dim=-1).gather(1, actions[:, None])[:, 0]
    return -(chosen * returns).sum() / returns.abs().sum()


def main() -> None:
    env = gym.make("CartPole-v1")
    steps, started = 0, time.perf_counter()
    for episode in range(60):
        observation, _ = env.reset(seed=episode)
        observations, actions, rewards, done = [], [], [], False
        while not done:
            tensor = torch.as_tensor(observation)
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=policy(tensor)).sample())
            observations.append(tensor)
            actions.append(action)
            observation, reward, terminated, truncated, _ = env.step(action)
            rewards.append(float(reward))
            done = terminated or truncated
        steps += len(rewards)
        returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
        missing = LONGEST - len(rewards)
        padded = nn.functional.pad(torch.stack(observations), (0, 0, 0, missing))
        loss = loss_of(
            padded, nn.functional.pad(torch.tensor(actions), (0, missing)), nn.functional.pad(returns, (0, missing))
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
