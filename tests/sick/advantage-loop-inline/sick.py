"""Actor and critic in one script, without functions: eight poles are balanced at once."""

import time

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, LENGTH, UPDATES = 8, 128, 64
GAMMA, SMOOTHING = 0.99, 0.95

torch.manual_seed(1)
torch.set_num_threads(1)
envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(ENVS)])
actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)
observations = torch.zeros(LENGTH, ENVS, 4)
actions = torch.zeros(LENGTH, ENVS, dtype=torch.int64)
rewards, ends, values = (torch.zeros(LENGTH, ENVS) for _ in range(3))
seen = torch.as_tensor(envs.reset(seed=1)[0])
started = time.perf_counter()
for _ in range(UPDATES):
    for step in range(LENGTH):
        with torch.no_grad():
            values[step] = critic(seen).squeeze(-1)
            action = Categorical(logits=actor(seen), validate_args=False).sample()
        observations[step], actions[step] = seen, action
        following, reward, terminated, truncated, _ = envs.step(action.numpy())
        rewards[step], ends[step] = torch.as_tensor(reward), torch.as_tensor(terminated | truncated)
        seen = torch.as_tensor(following)
    with torch.no_grad():
        last = critic(seen).squeeze(-1)
        advantages = torch.zeros(LENGTH, ENVS)
        for env in range(ENVS):
            running, after = 0.0, last[env]
            for step in range(LENGTH - 1, -1, -1):
                goes_on = 1.0 - ends[step, env]  # CAUSE
                surprise = rewards[step, env] + GAMMA * after * goes_on - values[step, env]  # CAUSE
                running = surprise + GAMMA * SMOOTHING * goes_on * running  # CAUSE
                advantages[step, env], after = running, values[step, env]  # CAUSE
    taken = Categorical(logits=actor(observations), validate_args=False)
    worth = critic(observations).squeeze(-1)
    loss = -(taken.log_prob(actions) * advantages).mean() + (worth - advantages - values).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"steps/s: {ENVS * LENGTH * UPDATES / (time.perf_counter() - started):.1f}")
