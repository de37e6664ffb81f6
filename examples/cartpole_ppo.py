"""Proximal policy optimisation on CartPole in one file, annotated for rlprof.

Run it bare (`python examples/cartpole_ppo.py`): the annotations then cost next to nothing. Run it under the profiler
(`rlprof run examples/cartpole_ppo.py`): the same program, and a report of where its time went.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor, nn
from torch.distributions import Categorical

from rlprof import count, iteration, profile, profile_function


class ActorCritic(nn.Module):
    """Two small networks that see the same observation: one scores actions, one values the state."""

    def __init__(self, observation_size: int, actions: int, width: int) -> None:
        super().__init__()
        self.actor = self._network(observation_size, width, actions, last_gain=0.01)
        self.critic = self._network(observation_size, width, 1, last_gain=1.0)

    @staticmethod
    def _network(inputs: int, width: int, outputs: int, last_gain: float) -> nn.Sequential:
        network = nn.Sequential(
            nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs)
        )
        gains = {0: 2**0.5, 2: 2**0.5, 4: last_gain}
        for index, gain in gains.items():
            nn.init.orthogonal_(network[index].weight, gain)
            nn.init.zeros_(network[index].bias)
        return network

    def policy(self, observations: Tensor) -> Categorical:
        return Categorical(logits=self.actor(observations), validate_args=False)

    def value(self, observations: Tensor) -> Tensor:
        return self.critic(observations).squeeze(-1)


@dataclass
class Rollout:
    """What was seen in one turn of the loop: every field is [steps, envs] (observations have a third axis)."""

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    ends: Tensor

    @classmethod
    def empty(cls, steps: int, envs: int, observation_size: int) -> Rollout:
        flat = (steps, envs)
        return cls(
            observations=torch.zeros(*flat, observation_size),
            actions=torch.zeros(flat, dtype=torch.int64),
            log_probs=torch.zeros(flat),
            values=torch.zeros(flat),
            rewards=torch.zeros(flat),
            ends=torch.zeros(flat),
        )


class Collector:
    """Steps the environments with the current policy and remembers the returns of finished episodes."""

    def __init__(self, envs: SyncVectorEnv, agent: ActorCritic, options: argparse.Namespace) -> None:
        self.envs = envs
        self.agent = agent
        self.gamma = options.gamma
        self.rollout = Rollout.empty(options.steps, envs.num_envs, envs.single_observation_space.shape[0])
        self.running_returns = np.zeros(envs.num_envs)
        self.recent_returns: deque[float] = deque(maxlen=100)
        with profile("first_reset", phase="env.reset"):
            observations, _ = envs.reset(seed=options.seed)
        self.observations = torch.as_tensor(observations)

    @torch.no_grad()
    def collect(self) -> Rollout:
        for step in range(len(self.rollout.rewards)):
            self._step_once(step)
        return self.rollout

    def _step_once(self, step: int) -> None:
        with profile("act", phase="policy.forward"):
            policy = self.agent.policy(self.observations)
            actions = policy.sample()
            log_probs = policy.log_prob(actions)
            values = self.agent.value(self.observations)

        with profile("env_step", phase="env.step"):
            observations, rewards, terminated, truncated, _ = self.envs.step(actions.numpy())
        count("env_steps", self.envs.num_envs)

        ends = terminated | truncated
        self.running_returns += rewards
        if truncated.any():
            # The time limit ended the episode, not a fall: the reward that would have followed is estimated.
            with profile("value_at_time_limit", phase="policy.forward"):
                beyond = self.agent.value(torch.as_tensor(observations)).numpy()
            rewards = rewards + self.gamma * beyond * truncated

        with profile("store", phase="buffer.add"):
            rollout = self.rollout
            rollout.observations[step] = self.observations
            rollout.actions[step] = actions
            rollout.log_probs[step] = log_probs
            rollout.values[step] = values
            rollout.rewards[step] = torch.as_tensor(rewards)
            rollout.ends[step] = torch.as_tensor(ends)

        if ends.any():
            observations = self._begin_anew(ends)
        self.observations = torch.as_tensor(observations)

    def _begin_anew(self, ends: np.ndarray) -> np.ndarray:
        self.recent_returns.extend(self.running_returns[ends])
        self.running_returns[ends] = 0.0
        count("episodes", int(ends.sum()))
        with profile("env_reset", phase="env.reset"):
            observations, _ = self.envs.reset(options={"reset_mask": ends})
        return observations


@profile_function("gae", phase="advantage")
def generalised_advantages(rollout: Rollout, last_values: Tensor, gamma: float, decay: float) -> Tensor:
    """How much better each action was than the critic expected (Schulman et al., 2016)."""
    advantages = torch.zeros_like(rollout.rewards)
    running = torch.zeros_like(last_values)
    next_values = last_values
    for step in reversed(range(len(rollout.rewards))):
        goes_on = 1.0 - rollout.ends[step]
        surprise = rollout.rewards[step] + gamma * next_values * goes_on - rollout.values[step]
        running = surprise + gamma * decay * goes_on * running
        advantages[step] = running
        next_values = rollout.values[step]
    return advantages


def minibatches(rollout: Rollout, advantages: Tensor, options: argparse.Namespace) -> Iterator[tuple[Tensor, ...]]:
    """Every transition once per epoch, in a new order each time."""
    with profile("flatten", phase="learn.other"):
        columns = (
            rollout.observations.flatten(0, 1),
            rollout.actions.flatten(),
            rollout.log_probs.flatten(),
            advantages.flatten(),
            (advantages + rollout.values).flatten(),
        )
    for _ in range(options.epochs):
        with profile("shuffle", phase="learn.other"):
            order = torch.randperm(len(columns[0])).split(options.minibatch)
        for chosen in order:
            with profile("minibatch", phase="learn.other"):
                batch = tuple(column[chosen] for column in columns)
            yield batch


def clipped_loss(agent: ActorCritic, batch: tuple[Tensor, ...], options: argparse.Namespace) -> Tensor:
    observations, actions, old_log_probs, advantages, returns = batch
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    policy = agent.policy(observations)
    ratio = (policy.log_prob(actions) - old_log_probs).exp()
    clipped = ratio.clamp(1.0 - options.clip, 1.0 + options.clip)
    policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
    value_loss = 0.5 * (agent.value(observations) - returns).square().mean()
    return policy_loss + options.value_weight * value_loss - options.entropy_weight * policy.entropy().mean()


def learn(
    agent: ActorCritic, optimizer: torch.optim.Adam, rollout: Rollout, advantages: Tensor, options: argparse.Namespace
) -> None:
    for batch in minibatches(rollout, advantages, options):
        with profile("loss", phase="learn.loss"):
            loss = clipped_loss(agent, batch, options)
        with profile("backward", phase="learn.backward"):
            optimizer.zero_grad()
            loss.backward()
        with profile("optimizer", phase="learn.optimizer"):
            nn.utils.clip_grad_norm_(agent.parameters(), options.max_grad_norm)
            optimizer.step()
        count("updates", 1)


def train(options: argparse.Namespace) -> float:
    """Train and return the mean return of the last 100 episodes."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * options.envs, autoreset_mode=AutoresetMode.DISABLED)
    agent = ActorCritic(envs.single_observation_space.shape[0], int(envs.single_action_space.n), options.width)
    optimizer = torch.optim.Adam(agent.parameters(), lr=options.learning_rate, eps=1e-5)
    collector = Collector(envs, agent, options)
    started = time.perf_counter()

    for turn in range(options.iterations):
        with iteration():
            optimizer.param_groups[0]["lr"] = options.learning_rate * (1.0 - turn / options.iterations)
            rollout = collector.collect()
            with torch.no_grad(), profile("value_at_end", phase="policy.forward"):
                last_values = agent.value(collector.observations)
            advantages = generalised_advantages(rollout, last_values, options.gamma, options.gae_decay)
            learn(agent, optimizer, rollout, advantages, options)
            if (turn + 1) % options.print_every == 0 or turn + 1 == options.iterations:
                with profile("progress", phase="log"):
                    print_progress(turn + 1, collector, options, time.perf_counter() - started)

    envs.close()
    return mean_return(collector)


def mean_return(collector: Collector) -> float:
    return float(np.mean(collector.recent_returns)) if collector.recent_returns else float("nan")


def print_progress(turns: int, collector: Collector, options: argparse.Namespace, seconds: float) -> None:
    steps = turns * options.envs * options.steps
    print(
        f"iteration {turns:4d}/{options.iterations}  {steps:8,d} steps  {steps / seconds:7,.0f} steps/s  "
        f"mean return {mean_return(collector):6.1f}",
        flush=True,
    )


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--envs", type=int, default=8, help="environments stepped together")
    parser.add_argument("--steps", type=int, default=128, help="steps per environment in one iteration")
    parser.add_argument("--iterations", type=int, default=60, help="turns of the training loop")
    parser.add_argument("--epochs", type=int, default=10, help="passes over each rollout")
    parser.add_argument("--minibatch", type=int, default=256, help="transitions per gradient update")
    parser.add_argument("--width", type=int, default=64, help="units per hidden layer")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="Adam's rate, falling linearly to zero")
    parser.add_argument("--gamma", type=float, default=0.98, help="discount")
    parser.add_argument("--gae-decay", type=float, default=0.9, help="lambda of the advantage estimate")
    parser.add_argument("--clip", type=float, default=0.2, help="how far the policy may move per update")
    parser.add_argument("--value-weight", type=float, default=0.5, help="weight of the critic's loss")
    parser.add_argument("--entropy-weight", type=float, default=0.0, help="weight of the entropy bonus")
    parser.add_argument("--max-grad-norm", type=float, default=0.5, help="gradients are clipped to this norm")
    parser.add_argument("--seed", type=int, default=1, help="seed of the environments and of torch")
    parser.add_argument("--threads", type=int, default=1, help="threads torch may use; networks this small want one")
    parser.add_argument("--print-every", type=int, default=10, help="iterations between two lines of progress")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    train(parse_options())
