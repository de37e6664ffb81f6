"""PPO on CartPole as one writes it with TorchRL. The argument says where the environments run."""

import sys
import warnings

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector, MultiSyncCollector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.envs import GymEnv, ParallelEnv, RewardSum, SerialEnv, StepCounter, TransformedEnv
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

BATCHES, FRAMES, EPOCHS, MINIBATCH = 4, 64, 2, 32


def cartpole():
    env = TransformedEnv(GymEnv("CartPole-v1"), StepCounter(max_steps=20))
    env.set_seed(1)
    return env


def networks():
    body = TensorDictModule(
        nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2)), in_keys=["observation"], out_keys=["logits"]
    )
    actor = ProbabilisticActor(
        body, in_keys=["logits"], out_keys=["action"], distribution_class=OneHotCategorical, return_log_prob=True
    )
    critic = ValueOperator(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)), in_keys=["observation"])
    return actor, critic


def collector_for(kind, actor):
    options = {"frames_per_batch": FRAMES, "total_frames": BATCHES * FRAMES}
    if kind == "multi":
        return MultiSyncCollector([cartpole, cartpole], actor, **options)
    if kind == "single":
        return Collector(cartpole(), actor, **options)
    batched = ParallelEnv if kind == "parallel" else SerialEnv
    return Collector(TransformedEnv(batched(2, cartpole), RewardSum()), actor, **options)


def main(kind):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    actor, critic = networks()
    collector = collector_for(kind, actor)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
    loss_module = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)
    buffer = TensorDictReplayBuffer(
        storage=LazyTensorStorage(FRAMES), sampler=SamplerWithoutReplacement(), batch_size=MINIBATCH
    )
    buffer.set_rng(torch.Generator().manual_seed(1))
    total = 0.0
    for data in collector:
        total += float(data["next", "reward"].sum())
        for _ in range(EPOCHS):
            advantage(data)
            buffer.extend(data.reshape(-1))
            for _ in range(FRAMES // MINIBATCH):
                losses = loss_module(buffer.sample())
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                loss.backward()
                nn.utils.clip_grad_norm_(loss_module.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        collector.update_policy_weights_()
    collector.shutdown()
    print(total, [round(float(p.detach().sum()), 5) for p in loss_module.parameters()])


if __name__ == "__main__":
    main(sys.argv[1])
