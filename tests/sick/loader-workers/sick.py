"""PPO whose minibatches come from a DataLoader with two workers, made anew in each epoch over a rollout in memory."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ENVS, STEPS, EPOCHS, BATCH, ITERATIONS = 8, 128, 4, 256, 12


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, observations):
        hidden = self.body(observations)
        return torch.distributions.Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


def collect(envs, agent, obs):
    """A rollout, and what was observed after it."""
    observations = np.zeros((STEPS, ENVS, 4), np.float32)
    actions = np.zeros((STEPS, ENVS), np.int64)
    log_probs, values, rewards, ends = (np.zeros((STEPS, ENVS), np.float32) for _ in range(4))
    for step in range(STEPS):
        observations[step] = obs
        with torch.no_grad():
            policy, value = agent(torch.as_tensor(obs))
            action = policy.sample()
            log_probs[step] = policy.log_prob(action).numpy()
        actions[step], values[step] = action.numpy(), value.numpy()
        obs, reward, terminated, truncated, _ = envs.step(actions[step])
        rewards[step], ends[step] = reward, terminated | truncated
    with torch.no_grad():
        following = agent(torch.as_tensor(obs))[1].numpy()
    gains = np.zeros((STEPS, ENVS), np.float32)
    gain = np.zeros(ENVS, np.float32)
    for step in reversed(range(STEPS)):
        later = following if step == STEPS - 1 else values[step + 1]
        gain = rewards[step] + 0.99 * later * (1 - ends[step]) - values[step] + 0.94 * (1 - ends[step]) * gain
        gains[step] = gain
    columns = (observations.reshape(-1, 4), actions.ravel(), log_probs.ravel(), gains.ravel(), (gains + values).ravel())
    return [torch.as_tensor(column) for column in columns], obs


def minibatches(rollout):
    yield from DataLoader(TensorDataset(*rollout), BATCH, shuffle=True, num_workers=2)  # CAUSE


def learn(agent, optimizer, batch):
    observations, actions, old, gains, returns = batch
    policy, values = agent(observations)
    ratio = (policy.log_prob(actions) - old).exp()
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    clipped = torch.min(ratio * gains, ratio.clamp(0.8, 1.2) * gains).mean()
    loss = 0.5 * (values - returns).pow(2).mean() - clipped - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    envs = gym.make_vec("CartPole-v1", num_envs=ENVS, vectorization_mode="sync")
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
    obs, _ = envs.reset(seed=0)
    started = time.perf_counter()
    for _ in range(ITERATIONS):
        rollout, obs = collect(envs, agent, obs)
        for _ in range(EPOCHS):
            for batch in minibatches(rollout):  # CAUSE
                learn(agent, optimizer, batch)
    print(f"steps/s: {ITERATIONS * STEPS * ENVS / (time.perf_counter() - started):.1f}")
    envs.close()


if __name__ == "__main__":
    main()
