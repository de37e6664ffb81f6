"""PPO learns to defend a network, with one environment or with hundreds.

The network is in cyber_network.py, its attacker in cyber_red.py, the environment in cyber_env.py, and the same game on
NumPy arrays in cyber_numpy.py. `--backend` and `--simulator` choose what plays it, and where. That changes how long it
takes and nothing else: a seed and a number of environments print the same returns with all of them.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical

from .cyber_env import STEPS, CyberEnv
from .cyber_numpy import CyberVector
from .progress import Progress

GAMMA, LAMBDA = 0.99, 0.95
CLIP = 0.2
SCALE = 0.1  # of rewards, which go down to -14 a step


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cyber", description="Learn to defend a network with PPO.")
    add = parser.add_argument
    add("--envs", type=int, default=1, help="environments at once [1]")
    add("--backend", choices=("serial", "subproc", "async"), default="serial",
        help="serial: one after the other; subproc: a process each, observations come pickled through pipes; "
             "async: a process each, observations come in shared memory [serial]")  # fmt: skip
    add("--simulator", choices=("python", "numpy"), default="python",
        help="python: objects; numpy: arrays for all environments, in this process whatever the backend [python]"
        )  # fmt: skip
    add("--episodes", type=int, default=200, help=f"of {STEPS} steps, over all environments [200]")
    add("--steps", type=int, help="transitions over all environments, instead of --episodes")
    add("--batch", type=int, default=2000, help="transitions between two updates, over all environments [2000]")
    add("--epochs", type=int, default=4, help="passes over each batch [4]")
    add("--minibatch", type=int, default=500, help="transitions per gradient step [500]")
    add("--hidden", type=int, default=64, help="units of a hidden layer [64]")
    add("--learning-rate", type=float, default=2e-3, help="of Adam [0.002]")
    add("--seed", type=int, default=0, help="of the networks, attackers and weights [0]")
    add("--threads", type=int, default=1, help="of torch; more of them slow small networks down [1]")
    return parser.parse_args(words)


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def make_envs(options: argparse.Namespace) -> VectorEnv:
    """An episode that ends begins anew in the same step."""
    if options.simulator == "numpy":
        return CyberVector(options.envs)
    makers, mode = [CyberEnv] * options.envs, AutoresetMode.SAME_STEP
    if options.backend == "serial":
        return SyncVectorEnv(makers, autoreset_mode=mode)
    return AsyncVectorEnv(makers, shared_memory=options.backend == "async", autoreset_mode=mode)


class Agent(nn.Module):  # type: ignore[misc]
    """A policy and a value for each observation."""

    def __init__(self, bits: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.actor = self._layers(bits, hidden, actions, 0.01)
        self.critic = self._layers(bits, hidden, 1, 1.0)

    @staticmethod
    def _layers(inputs: int, hidden: int, outputs: int, scale: float) -> nn.Sequential:
        last = nn.Linear(hidden, outputs)
        nn.init.orthogonal_(last.weight, scale)
        return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), last)

    def get_value(self, observations: Tensor) -> Tensor:
        values: Tensor = self.critic(observations).squeeze(-1)
        return values

    def get_action_and_value(
        self, observations: Tensor, actions: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        policy = Categorical(logits=self.actor(observations), validate_args=False)
        if actions is None:
            actions = policy.sample()
        return actions, policy.log_prob(actions), policy.entropy(), self.get_value(observations)


class Rollout:
    """The transitions between two updates, step by step and for all environments."""

    def __init__(self, steps: int, envs: int, bits: int) -> None:
        self.observations = torch.zeros(steps, envs, bits)
        self.actions = torch.zeros(steps, envs, dtype=torch.int64)
        self.log_probs, self.values, self.rewards, self.ends = torch.zeros(4, steps, envs)
        self.advantages = torch.zeros(steps, envs)
        self.filled = 0

    def add(
        self, observations: Tensor, actions: Tensor, log_probs: Tensor, values: Tensor, rewards: Floats, ends: Bools
    ) -> None:
        at = self.filled
        self.observations[at], self.actions[at] = observations, actions
        self.log_probs[at], self.values[at] = log_probs, values
        self.rewards[at] = torch.from_numpy(rewards * SCALE)
        self.ends[at] = torch.from_numpy(ends)
        self.filled += 1

    def compute_gae(self, following: Tensor) -> None:
        """Advantages; `following` are the values of what comes after the last step."""
        ahead = torch.zeros_like(following)
        for step in reversed(range(self.filled)):
            goes_on = 1.0 - self.ends[step]
            error = self.rewards[step] + GAMMA * goes_on * following - self.values[step]
            ahead = error + GAMMA * LAMBDA * goes_on * ahead
            self.advantages[step] = ahead
            following = self.values[step]
        self.filled = 0

    def sample(self, minibatch: int) -> Iterator[tuple[Tensor, ...]]:
        """Each transition once, in random order."""
        columns = (self.observations, self.actions, self.log_probs, self.values, self.advantages)
        flat = [column.flatten(0, 1) for column in columns]
        for rows in torch.randperm(len(flat[1])).split(minibatch):
            yield tuple(column[rows] for column in flat)


class Learner:
    def __init__(self, agent: Agent, options: argparse.Namespace) -> None:
        self.agent = agent
        self.epochs = options.epochs
        self.minibatch = options.minibatch
        self.optimizer = torch.optim.Adam(agent.parameters(), lr=options.learning_rate, eps=1e-5)
        self.updates = 0

    def learn(self, rollout: Rollout) -> None:
        for _ in range(self.epochs):
            for observations, actions, log_probs, values, advantages in rollout.sample(self.minibatch):
                _, now, entropy, judged = self.agent.get_action_and_value(observations, actions)
                ratio = (now - log_probs).exp()
                gains = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
                policy_loss = -torch.min(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
                value_loss = (judged - values - advantages).square().mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * entropy.mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()
                self.updates += 1


@dataclass
class Training:
    """What came of it: the returns of episodes in the order in which they ended, transitions, gradient steps."""

    returns: list[float]
    steps: int
    updates: int


class Returns:
    """Adds rewards up, environment by environment, to the returns of finished episodes."""

    def __init__(self, envs: int) -> None:
        self.running = np.zeros(envs)
        self.finished: list[float] = []

    def note(self, rewards: Floats, ends: Bools) -> None:
        self.running += rewards
        if ends.any():
            self.finished += self.running[ends].tolist()
            self.running[ends] = 0.0


def train(options: argparse.Namespace) -> Training:
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    # Libraries are no garbage. Looking through them again and again takes time, and in every worker 40 MB of memory:
    # a page that was shared with the parent is copied when the collector marks something on it.
    gc.freeze()
    envs = make_envs(options)
    bits, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent = Agent(bits, actions, options.hidden)
    learner = Learner(agent, options)
    length = max(options.batch // options.envs, 1)
    total = options.steps or options.episodes * STEPS
    rollout, returns = Rollout(length, options.envs, bits), Returns(options.envs)
    progress, said = Progress("cyber", total), 0
    steps = 0
    observations = torch.as_tensor(envs.reset(seed=options.seed)[0], dtype=torch.float32)
    while steps < total:
        for _ in range(length):
            with torch.no_grad():
                chosen, log_probs, _, values = agent.get_action_and_value(observations)
            following, rewards, terminated, truncated, _ = envs.step(chosen.numpy())
            ends = terminated | truncated
            rollout.add(observations, chosen, log_probs, values, rewards, ends)
            returns.note(rewards, ends)
            observations = torch.as_tensor(following, dtype=torch.float32)
        with torch.no_grad():
            rollout.compute_gae(agent.get_value(observations))
        learner.learn(rollout)
        steps += length * options.envs
        progress.update(steps)
        tenths = min(steps * 10 // total, 10)
        if tenths > said and returns.finished:
            said, last = tenths, returns.finished[-100:]
            progress.say(f"{said * 10}% of {total} transitions: mean return {sum(last) / len(last):.2f}")
    envs.close()
    gc.unfreeze()
    return Training(returns.finished, steps, learner.updates)


def main() -> None:
    done = train(parse())
    print(f"{done.steps} transitions, {len(done.returns)} episodes, {done.updates} gradient steps")


if __name__ == "__main__":
    main()
