"""A student learns from a scripted teacher to gather and deposit crates, then goes on by itself with PPO.

In the first phase the student acts, the teacher says for every step of every agent what it would have done, and the
student learns that and to value states. In the second one the teacher is gone. The ranges of the loop are marked for
torch's profiler. The grid is in teacher_grid.py, the teacher in teacher_script.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn import functional
from torch.profiler import record_function

from .progress import Progress
from .teacher_grid import FEATURES, GatherEnv, GridSize
from .teacher_script import ScriptedTeacher

ACTIONS = 6
GAMMA, LAMBDA = 0.97, 0.95
CLIP, ENTROPY, CRITIC = 0.2, 0.01, 0.5


def parse(words: list[str] | None = None) -> argparse.Namespace:
    grid = GridSize()
    parser = argparse.ArgumentParser(prog="teacher", description="Learn from a teacher first, then with PPO.")
    add = parser.add_argument
    add("--supervised-steps", type=int, default=16_384, help="steps of the environments with the teacher [16384]")
    add("--total-steps", type=int, default=49_152, help="steps in both phases together [49152]")
    add("--label-every", type=int, default=1, help="ask the teacher about one in so many steps [1]")
    add("--envs", type=int, default=16, help="environments at once [16]")
    add("--rollout", type=int, default=32, help="steps of each of them between two updates [32]")
    add("--epochs", type=int, default=4, help="passes over each rollout [4]")
    add("--minibatch", type=int, default=512, help="decisions of agents per gradient step [512]")
    add("--hidden", type=int, default=128, help="units of a hidden layer [128]")
    add("--learning-rate", type=float, default=1e-3, help="of Adam; a third of it with PPO [0.001]")
    add("--agents", type=int, default=grid.agents, help=f"on each grid [{grid.agents}]")
    add("--crates", type=int, default=grid.crates, help=f"on each grid at first [{grid.crates}]")
    add("--size", type=int, default=grid.cells, help=f"cells of a side of the grid [{grid.cells}]")
    add("--device", default="cpu", help="where the network is, for example cuda [cpu]")
    add("--seed", type=int, default=0, help="of the grids and the network [0]")
    add("--threads", type=int, default=1, help="of torch; more of them slow small networks down [1]")
    return parser.parse_args(words)


class Student(nn.Module):  # type: ignore[misc]
    """One network for all agents: what to do, and what the state is worth."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor = nn.Linear(hidden, ACTIONS)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, observations: Tensor) -> tuple[Categorical, Tensor]:
        features = self.body(observations)
        return Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)


@dataclass
class Rollout:
    """What all agents saw, did and got in some steps: [steps, environments, agents], and features for what they saw."""

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    rewards: Tensor
    labels: Tensor  # what the teacher would have done; -1 where it was not asked
    ends: Tensor
    counts: Tensor  # 0 where an environment only began anew

    @classmethod
    def empty(cls, options: argparse.Namespace) -> Rollout:
        shape = options.rollout, options.envs, options.agents
        zeros = partial(torch.zeros, device=options.device)
        whole = partial(zeros, dtype=torch.int64)
        floats = [zeros(shape) for _ in range(5)]
        return cls(
            zeros(*shape, FEATURES), whole(shape), floats[0], floats[1], floats[2], whole(shape), floats[3], floats[4]
        )

    def store(self, step: int, **columns: Tensor) -> None:
        for name, value in columns.items():
            getattr(self, name)[step] = value


def ask_teacher(teacher: ScriptedTeacher, observations: Tensor) -> Tensor:
    """What the teacher would do in place of each agent. It knows nothing of tensors, and takes one agent at a time."""
    with record_function("reshape"):
        rows = observations.reshape(-1, FEATURES)
    with record_function("device to host"):
        on_host = rows.cpu().numpy()
    with record_function("agent calls"):
        choices = [teacher.act(row) for row in on_host]
    with record_function("stack and back"):
        stacked = torch.from_numpy(np.stack(choices)).to(observations.device)
        return stacked.reshape(observations.shape[:-1])


@dataclass
class Collector:
    """Steps the environments with the student, and lets the teacher comment while there is one."""

    envs: gymnasium.vector.VectorEnv
    student: Student
    rollout: Rollout
    options: argparse.Namespace
    delivered: list[int] = field(default_factory=list)  # crates, by finished episode

    def __post_init__(self) -> None:
        first, _ = self.envs.reset(seed=self.options.seed)
        self.observations = torch.from_numpy(first).to(self.options.device)
        self.ended = np.zeros(self.options.envs, bool)

    def collect(self, teacher: ScriptedTeacher | None) -> Tensor:
        """Fill the rollout; the value of what the agents see in the end."""
        for step in range(self.options.rollout):
            with record_function("student forward"), torch.no_grad():
                policy, values = self.student(self.observations)
                actions = policy.sample()
                log_probs = policy.log_prob(actions)
            labels = torch.full_like(actions, -1)
            if teacher is not None and step % self.options.label_every == 0:
                with record_function("teacher"):
                    labels = ask_teacher(teacher, self.observations)
            seen, began_anew = self.observations, self.ended
            with record_function("env step"):
                rewards = self._step(actions)
            with record_function("replay store"):
                self.rollout.store(
                    step,
                    observations=seen,
                    actions=actions,
                    log_probs=log_probs,
                    values=values,
                    rewards=rewards,
                    labels=labels,
                    ends=self._for_agents(self.ended),
                    counts=1.0 - self._for_agents(began_anew),
                )
        with torch.no_grad():
            last: Tensor = self.student(self.observations)[1]
        return last

    def _step(self, actions: Tensor) -> Tensor:
        following, _, terminated, truncated, info = self.envs.step(actions.cpu().numpy())
        self.observations = torch.from_numpy(following).to(self.options.device)
        self.ended = terminated | truncated
        self.delivered += info["delivered"][self.ended].tolist()
        return torch.from_numpy(info["rewards"]).to(self.options.device)

    def _for_agents(self, of_envs: np.ndarray) -> Tensor:
        column = torch.from_numpy(of_envs.astype(np.float32)).to(self.options.device)
        return column[:, None].expand(-1, self.options.agents)


def advantages_of(rollout: Rollout, last: Tensor) -> Tensor:
    """Generalised advantage estimates, backwards through the rollout."""
    advantages = torch.zeros_like(rollout.values)
    ahead = torch.zeros_like(last)
    following = last
    for step in reversed(range(len(advantages))):
        goes_on = 1.0 - rollout.ends[step]
        error = rollout.rewards[step] + GAMMA * goes_on * following - rollout.values[step]
        ahead = error + GAMMA * LAMBDA * goes_on * ahead
        advantages[step] = ahead
        following = rollout.values[step]
    return advantages


@dataclass
class Learner:
    student: Student
    options: argparse.Namespace

    def __post_init__(self) -> None:
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=self.options.learning_rate)

    def learn(self, rollout: Rollout, last: Tensor, *, supervised: bool) -> None:
        with record_function("advantage"):
            advantages = advantages_of(rollout, last)
            returns = advantages + rollout.values
        columns = (rollout.observations, rollout.actions, rollout.log_probs, rollout.labels, advantages, returns)
        counted = rollout.counts.bool()
        batch = [column[counted] for column in columns]
        for rows in self._minibatches(len(batch[0])):
            observations, actions, log_probs, labels, gains, targets = (column[rows] for column in batch)
            policy, values = self.student(observations)
            critic = functional.mse_loss(values, targets)
            actor = imitation_loss(policy, labels) if supervised else ppo_loss(policy, actions, log_probs, gains)
            loss = actor + CRITIC * critic
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.student.parameters(), 0.5)
            self.optimizer.step()

    def _minibatches(self, count: int) -> Iterator[Tensor]:
        for _ in range(self.options.epochs):
            yield from torch.randperm(count).to(self.options.device).split(self.options.minibatch)

    def go_slower(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.learning_rate / 3


def imitation_loss(policy: Categorical, labels: Tensor) -> Tensor:
    told = (labels >= 0).sum().clamp(min=1)
    return functional.cross_entropy(policy.logits, labels, ignore_index=-1, reduction="sum") / told


def ppo_loss(policy: Categorical, actions: Tensor, log_probs: Tensor, gains: Tensor) -> Tensor:
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    ratio = (policy.log_prob(actions) - log_probs).exp()
    clipped = torch.minimum(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains)
    return -clipped.mean() - ENTROPY * policy.entropy().mean()


def make_envs(options: argparse.Namespace) -> gymnasium.vector.VectorEnv:
    size = GridSize(cells=options.size, agents=options.agents, crates=options.crates)
    return gymnasium.vector.SyncVectorEnv([partial(GatherEnv, size)] * options.envs)


def train(options: argparse.Namespace) -> list[int]:
    """The crates delivered in each finished episode, in the order in which they ended."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    teacher = ScriptedTeacher(options.size)
    student = Student(options.hidden).to(options.device)
    collector = Collector(make_envs(options), student, Rollout.empty(options), options)
    learner = Learner(student, options)
    progress = Progress("teacher", options.total_steps)
    steps, said, counted = 0, 0, 0
    slower = False
    while steps < options.total_steps:
        supervised = steps < options.supervised_steps
        if not supervised and not slower:
            learner.go_slower()
            slower = True
        with record_function("supervised" if supervised else "ppo"):
            with record_function("rollout"):
                last = collector.collect(teacher if supervised else None)
            with record_function("update"):
                learner.learn(collector.rollout, last, supervised=supervised)
        steps += options.envs * options.rollout
        progress.update(steps)
        if steps * 10 // options.total_steps > said:
            said = steps * 10 // options.total_steps
            ended = collector.delivered[counted:]
            counted = len(collector.delivered)
            phase = "supervised" if supervised else "ppo"
            progress.say(f"{steps} steps, {phase}: {summed_up(ended, options.crates)}")
    return collector.delivered


def summed_up(delivered: list[int], crates: int) -> str:
    if not delivered:
        return "no episode ended"
    return f"{sum(delivered) / len(delivered):.2f} of {crates} crates, mean of {len(delivered)} episodes"


def main() -> None:
    train(parse())


if __name__ == "__main__":
    main()
