"""PPO with TorchRL on a Petri net: an agent learns to schedule a flexible manufacturing cell.

The net and its environment are in petri_net.py, petri_engines.py and petri_env.py. `--turbo` chooses the engine that
plays the net; both give the same trajectories, so the same seed prints the same returns with either.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import warnings
from collections.abc import Callable

import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import DTypeCastTransform, GymWrapper, RewardSum, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from .petri_env import PetriEnv
from .petri_net import CellSize
from .progress import Progress

#: Called with the number of the batch that is about to be collected, and with the environment.
BeforeBatch = Callable[[int, PetriEnv], None]


def parse(words: list[str] | None = None) -> argparse.Namespace:
    cell = CellSize()
    parser = argparse.ArgumentParser(prog="petri", description="Learn to schedule a manufacturing cell with PPO.")
    add = parser.add_argument
    add("--batches", type=int, default=20, help="batches to collect and learn from [20]")
    add("--frames-per-batch", type=int, default=1024, help="steps of the environment in each [1024]")
    add("--n-hidden", type=int, default=128, help="units of a hidden layer [128]")
    add("--n-layer", type=int, default=2, help="hidden layers of actor and critic [2]")
    add("--turbo", action=argparse.BooleanOptionalAction, default=True, help="play the net with the quick engine [on]")
    add("--seed", type=int, default=0, help="of the cell, the jobs and the networks [0]")
    add("--epochs", type=int, default=4, help="passes over each batch [4]")
    add("--minibatch", type=int, default=128, help="frames per gradient step [128]")
    add("--learning-rate", type=float, default=1e-3, help="of Adam [0.001]")
    add("--threads", type=int, default=1, help="of torch; more of them slow small networks down [1]")
    add("--job-types", type=int, default=cell.job_types, help=f"kinds of jobs [{cell.job_types}]")
    add("--stages", type=int, default=cell.stages, help=f"operations of each job [{cell.stages}]")
    add("--machines", type=int, default=cell.machines, help=f"machines they share [{cell.machines}]")
    add("--slots", type=int, default=cell.slots, help=f"slots of the buffer before each machine [{cell.slots}]")
    add("--jobs", type=int, default=cell.jobs, help=f"jobs of an episode [{cell.jobs}]")
    return parser.parse_args(words)


def make_env(options: argparse.Namespace) -> PetriEnv:
    size = CellSize(options.job_types, options.stages, options.machines, options.slots, options.jobs)
    return PetriEnv(size, seed=options.seed, turbo=options.turbo)


def for_torchrl(env: PetriEnv, seed: int) -> TransformedEnv:
    wrapped = GymWrapper(env, categorical_action_encoding=True)
    mask_is_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    transformed = TransformedEnv(wrapped, mask_is_bool)
    transformed.append_transform(RewardSum())
    transformed.set_seed(seed)
    return transformed


def network(inputs: int, outputs: int, options: argparse.Namespace) -> nn.Sequential:
    widths = [inputs, *[options.n_hidden] * options.n_layer]
    layers: list[nn.Module] = []
    for width, following in itertools.pairwise(widths):
        layers += [nn.Linear(width, following), nn.Tanh()]
    last = nn.Linear(widths[-1], outputs)
    nn.init.orthogonal_(last.weight, 0.01)
    return nn.Sequential(*layers, last)


def actor_and_critic(env: PetriEnv, options: argparse.Namespace) -> tuple[ProbabilisticActor, ValueOperator]:
    seen = env.observation_space["observation"].shape[0]
    scores = TensorDictModule(
        network(seen, int(env.action_space.n), options), in_keys=["observation"], out_keys=["logits"]
    )
    actor = ProbabilisticActor(
        scores,
        in_keys={"logits": "logits", "mask": "action_mask"},
        out_keys=["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    return actor, ValueOperator(network(seen, 1, options), in_keys=["observation"])


class Learner:
    """Clipped PPO: advantages of a batch, then some passes over it in minibatches."""

    def __init__(self, actor: ProbabilisticActor, critic: ValueOperator, options: argparse.Namespace) -> None:
        self.epochs = options.epochs
        minibatch = min(options.minibatch, options.frames_per_batch)
        self.steps = options.frames_per_batch // minibatch
        self.advantage = GAE(gamma=0.995, lmbda=0.95, value_network=critic, average_gae=True)
        self.loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.005, critic_coeff=0.5)
        self.optimizer = torch.optim.Adam(self.loss.parameters(), lr=options.learning_rate)
        self.buffer = TensorDictReplayBuffer(
            storage=LazyTensorStorage(options.frames_per_batch),
            sampler=SamplerWithoutReplacement(),
            batch_size=minibatch,
        )
        self.buffer.set_rng(torch.Generator().manual_seed(options.seed))

    def learn(self, batch: TensorDictBase) -> None:
        with torch.no_grad():
            self.advantage(batch)
        self.buffer.extend(batch.reshape(-1))
        for _ in range(self.epochs * self.steps):
            losses = self.loss(self.buffer.sample())
            loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.loss.parameters(), 0.5)
            self.optimizer.step()


def returns_of(batch: TensorDictBase) -> list[float]:
    """The returns of the episodes that ended in a batch."""
    ended = batch["next", "done"]
    returns: list[float] = batch["next", "episode_reward"][ended].tolist()
    return returns


def train(options: argparse.Namespace, before_batch: BeforeBatch | None = None) -> list[float]:
    """The mean return of each batch in which an episode ended."""
    warnings.filterwarnings("ignore", module="torchrl|tensordict|torch")
    logging.getLogger("torchrl").setLevel(logging.WARNING)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    env = make_env(options)
    actor, critic = actor_and_critic(env, options)
    learner = Learner(actor, critic, options)
    frames = options.frames_per_batch
    wrapped = for_torchrl(env, options.seed)
    collector = Collector(wrapped, actor, frames_per_batch=frames, total_frames=frames * options.batches)
    progress = Progress("petri", options.batches)
    means: list[float] = []
    if before_batch:
        before_batch(0, env)
    for number, batch in enumerate(collector, start=1):
        returns = returns_of(batch)
        if returns:
            means.append(sum(returns) / len(returns))
            progress.say(f"batch {number}: {len(returns)} episodes, mean return {means[-1]:.4f}")
        learner.learn(batch)
        progress.update(number)
        if before_batch and number < options.batches:
            before_batch(number, env)
    collector.shutdown()
    return means


def main() -> None:
    train(parse())


if __name__ == "__main__":
    main()
