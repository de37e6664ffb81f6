"""torchrl_ppo.py with timers placed by hand. Every line that it has more names the `clock`."""

from __future__ import annotations

import argparse
import json
import time

import torch
from hand_clock import clock
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
        env.step_and_maybe_reset = clock.timed("env.step", env.step_and_maybe_reset)
        env.reset = clock.timed("env.reset", env.reset)
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
        actor.register_forward_pre_hook(lambda *_: clock.begin("policy.forward"))
        actor.register_forward_hook(lambda *_: clock.end())

    def train(self, steps: int) -> int:
        """Train so many frames more, to the end of the batch; how many it were."""
        batches = -(-steps // FRAMES)
        for number, data in enumerate(self.collector, 1):
            for _ in range(EPOCHS):
                clock.begin("advantage")
                with torch.no_grad():
                    self.estimate(data)
                clock.end()
                clock.begin("buffer.add")
                self.buffer.extend(data.reshape(-1))
                clock.end()
                for _ in range(FRAMES // MINIBATCH):
                    clock.begin("buffer.sample")
                    batch = self.buffer.sample()
                    clock.end()
                    clock.begin("learn.loss")
                    losses = self.loss_module(batch)
                    loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                    clock.end()
                    clock.begin("learn.backward")
                    loss.backward()
                    clock.end()
                    clock.begin("learn.other")
                    nn.utils.clip_grad_norm_(self.loss_module.parameters(), 1.0)
                    clock.end()
                    clock.begin("learn.optimizer")
                    self.optimizer.step()
                    clock.end()
                    clock.begin("learn.other")
                    self.optimizer.zero_grad()
                    clock.end()
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
