"""Actor and critic on CartPole. Networks and optimizer are saved once in a hundred episodes."""

import tempfile
import time
from pathlib import Path

import gymnasium as gym
import torch
from torch import nn

EPISODES = 160


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU())
        self.actor, self.critic = nn.Linear(400, 2), nn.Linear(400, 1)

    def forward(self, obs: torch.Tensor) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        hidden = self.body(obs)
        chances = torch.distributions.Categorical(logits=self.actor(hidden), validate_args=False)
        return chances, self.critic(hidden).squeeze(-1)


class Trainer:
    def __init__(self, file: Path) -> None:
        self.env, self.net, self.file = gym.make("CartPole-v1", max_episode_steps=30), Net(), file
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.steps = 0
        self.env.reset(seed=0)

    def episode(self) -> None:
        obs, _ = self.env.reset()
        log_probs, values, returns, over = [], [], [], False
        while not over:
            chances, value = self.net(torch.from_numpy(obs))
            action = chances.sample()
            obs, reward, terminated, truncated, _ = self.env.step(int(action))
            log_probs.append(chances.log_prob(action))
            values.append(value)
            returns = [sofar + reward for sofar in returns] + [reward]
            self.steps += 1
            over = terminated or truncated
        self.learn(torch.stack(log_probs), torch.stack(values), torch.tensor(returns))

    def learn(self, log_probs: torch.Tensor, values: torch.Tensor, returns: torch.Tensor) -> None:
        surprise = returns - values
        loss = -(log_probs * surprise.detach()).mean() + surprise.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def save(self) -> None:
        torch.save({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}, self.file)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Path(folder) / "last.pt")
        started = time.perf_counter()
        for number in range(EPISODES):
            trainer.episode()
            if number % 100 == 99:
                trainer.save()
        print(f"steps/s: {trainer.steps / (time.perf_counter() - started):.1f}")


main()
