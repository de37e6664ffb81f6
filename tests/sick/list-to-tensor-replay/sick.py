"""DQN on CartPole with a deque of tuples, as many a tutorial has it."""

import random
import time
from collections import deque

import gymnasium as gym
import torch
from torch import nn

STEPS = 4000
BATCH = 128


class Memory:
    def __init__(self, size: int) -> None:
        self.rows: deque = deque(maxlen=size)

    def push(self, *transition) -> None:
        self.rows.append(transition)

    def sample(self, count: int) -> tuple[torch.Tensor, ...]:
        states, actions, rewards, following, ends = zip(*random.sample(self.rows, count), strict=True)
        return (
            torch.tensor([[float(value) for value in state] for state in states]),  # CAUSE
            torch.tensor(actions),  # CAUSE
            torch.tensor(rewards),  # CAUSE
            torch.tensor([[float(value) for value in state] for state in following]),  # CAUSE
            torch.tensor(ends, dtype=torch.float32),  # CAUSE
        )


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))


def learn(policy: nn.Module, target: nn.Module, optimizer, memory: Memory) -> None:
    states, actions, rewards, following, ends = memory.sample(BATCH)
    with torch.no_grad():
        wanted = rewards + 0.99 * (1 - ends) * target(following).max(1).values
    found = policy(states).gather(1, actions[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(found, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main() -> None:
    torch.set_num_threads(1)
    random.seed(0)
    torch.manual_seed(0)
    env, memory, policy, target = gym.make("CartPole-v1"), Memory(2000), network(), network()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    obs, _ = env.reset(seed=0)
    started = time.perf_counter()
    for step in range(STEPS):
        with torch.no_grad():
            action = random.randrange(2) if random.random() < 0.1 else int(policy(torch.from_numpy(obs)).argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        memory.push(obs, action, reward, following, terminated)
        obs = env.reset()[0] if terminated or truncated else following
        if step > BATCH:
            learn(policy, target, optimizer, memory)
        if step % 200 == 0:
            target.load_state_dict(policy.state_dict())
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
