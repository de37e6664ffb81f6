"""PPO on CartPole in one file, in the manner of CleanRL: everything that happens stands in one loop."""

from __future__ import annotations

import argparse
import json
import random
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical

ENVS, STEPS, EPOCHS, MINIBATCHES = 8, 128, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, MAX_NORM = 0.99, 0.95, 0.2, 0.01, 0.5, 0.5


def make_env() -> gym.Env:
    return gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.constant_(linear.bias, 0.0)
    return linear


class Agent(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic = nn.Sequential(layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.actor = nn.Sequential(layer(inputs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, actions, 0.01))

    def get_value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs)

    def get_action_and_value(self, obs: torch.Tensor, action: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
        distribution = Categorical(logits=self.actor(obs))
        if action is None:
            action = distribution.sample()
        return action, distribution.log_prob(action), distribution.entropy(), self.critic(obs)


class Training:
    def __init__(self) -> None:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        torch.set_num_threads(1)
        self.envs = gym.vector.SyncVectorEnv([make_env for _ in range(ENVS)])
        self.shape = self.envs.single_observation_space.shape
        self.agent = Agent(int(np.prod(self.shape)), self.envs.single_action_space.n)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=2.5e-4, eps=1e-5)
        first, _ = self.envs.reset(seed=1)
        self.next_obs, self.next_done = torch.Tensor(first), torch.zeros(ENVS)

    def train(self, steps: int) -> int:
        """Train so many steps more, to the end of the rollout; how many it were."""
        envs, agent, optimizer = self.envs, self.agent, self.optimizer
        obs = torch.zeros((STEPS, ENVS, *self.shape))
        actions = torch.zeros((STEPS, ENVS))
        logprobs = torch.zeros((STEPS, ENVS))
        rewards = torch.zeros((STEPS, ENVS))
        dones = torch.zeros((STEPS, ENVS))
        values = torch.zeros((STEPS, ENVS))
        batch = ENVS * STEPS

        next_obs, next_done = self.next_obs, self.next_done
        iterations = -(-steps // batch)
        for _ in range(iterations):
            for step in range(STEPS):
                obs[step] = next_obs
                dones[step] = next_done

                with torch.no_grad():
                    action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
                actions[step] = action
                logprobs[step] = logprob

                step_obs, reward, terminated, truncated, _ = envs.step(action.cpu().numpy())
                rewards[step] = torch.tensor(reward).view(-1)
                next_obs = torch.Tensor(step_obs)
                next_done = torch.Tensor(np.logical_or(terminated, truncated))

            with torch.no_grad():
                next_value = agent.get_value(next_obs).reshape(1, -1)
                advantages = torch.zeros_like(rewards)
                last = 0
                for t in reversed(range(STEPS)):
                    following = next_value if t == STEPS - 1 else values[t + 1]
                    alive = 1.0 - (next_done if t == STEPS - 1 else dones[t + 1])
                    delta = rewards[t] + GAMMA * following * alive - values[t]
                    advantages[t] = last = delta + GAMMA * LAMBDA * alive * last
                returns = advantages + values

            b_obs = obs.reshape((-1, *self.shape))
            b_actions = actions.reshape(-1)
            b_logprobs = logprobs.reshape(-1)
            b_advantages = advantages.reshape(-1)
            b_returns = returns.reshape(-1)

            order = np.arange(batch)
            for _ in range(EPOCHS):
                np.random.shuffle(order)
                for begin in range(0, batch, batch // MINIBATCHES):
                    chosen = order[begin : begin + batch // MINIBATCHES]

                    mb_obs, mb_actions = b_obs[chosen], b_actions.long()[chosen]

                    _, newlogprob, entropy, newvalue = agent.get_action_and_value(mb_obs, mb_actions)
                    logratio = newlogprob - b_logprobs[chosen]
                    ratio = logratio.exp()
                    advantage = b_advantages[chosen]
                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                    unclipped = -advantage * ratio
                    clipped = -advantage * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
                    policy_loss = torch.max(unclipped, clipped).mean()
                    value_loss = 0.5 * ((newvalue.view(-1) - b_returns[chosen]) ** 2).mean()
                    loss = policy_loss - ENTROPY * entropy.mean() + VALUE * value_loss

                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(agent.parameters(), MAX_NORM)
                    optimizer.step()
        self.next_obs, self.next_done = next_obs, next_done
        return iterations * batch

    def close(self) -> None:
        self.envs.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=80_000)
    args = parser.parse_args()
    training = Training()
    start = time.perf_counter()
    steps = training.train(args.steps)
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)
    training.close()


if __name__ == "__main__":
    main()
