"""TorchRL's PPO on CartPole: collector, GAE, clipped loss, and a replay buffer to draw minibatches from."""

from __future__ import annotations

import argparse
import json
import time

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torch.distributions import OneHotCategorical
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import Compose, GymEnv, InitTracker, RewardSum, StepCounter, TransformedEnv
from torchrl.modules import MLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

FRAMES, MINIBATCH, EPOCHS = 256, 64, 4


class Training:
    def __init__(self) -> None:
        torch.manual_seed(1)
        torch.set_num_threads(1)
        env = TransformedEnv(GymEnv("CartPole-v1"), Compose(StepCounter(), RewardSum(), InitTracker()))
        env.set_seed(1)
        size = env.observation_spec["observation"].shape[-1]
        network = TensorDictModule(
            MLP(size, env.action_spec.shape[-1], num_cells=[64, 64]), in_keys=["observation"], out_keys=["logits"]
        )
        actor = ProbabilisticActor(
            network,
            in_keys=["logits"],
            distribution_class=OneHotCategorical,
            return_log_prob=True,
            spec=env.action_spec,
        )
        critic = ValueOperator(MLP(size, 1, num_cells=[64, 64]), in_keys=["observation"])
        self.estimate = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
        self.loss_module = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
        self.optimizer = torch.optim.Adam(self.loss_module.parameters(), lr=3e-4)
        self.buffer = ReplayBuffer(
            storage=LazyTensorStorage(FRAMES), sampler=SamplerWithoutReplacement(), batch_size=MINIBATCH
        )
        self.collector = Collector(env, actor, frames_per_batch=FRAMES, total_frames=-1)

    def train(self, steps: int) -> int:
        """Train so many frames more, to the end of the batch; how many it were."""
        batches = -(-steps // FRAMES)
        for number, data in enumerate(self.collector, 1):
            for _ in range(EPOCHS):
                with torch.no_grad():
                    self.estimate(data)
                self.buffer.extend(data.reshape(-1))
                for _ in range(FRAMES // MINIBATCH):
                    batch = self.buffer.sample()
                    losses = self.loss_module(batch)
                    loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                    loss.backward()
                    nn.utils.clip_grad_norm_(self.loss_module.parameters(), 1.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
            if number == batches:
                break
        return batches * FRAMES

    def close(self) -> None:
        self.collector.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=8_000)
    args = parser.parse_args()
    training = Training()
    start = time.perf_counter()
    steps = training.train(args.steps)
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)
    training.close()


if __name__ == "__main__":
    main()
