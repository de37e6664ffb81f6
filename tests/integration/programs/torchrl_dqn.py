"""DQN on CartPole as one writes it with TorchRL: a replay buffer, a target network, an evaluation, a rollout."""

import warnings

import torch
from tensordict.nn import TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.envs import GymEnv, SerialEnv, StepCounter, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import EGreedyModule, QValueActor
from torchrl.objectives import DQNLoss, SoftUpdate
from torchrl.record.loggers import CSVLogger


def short_cartpole(steps):
    return TransformedEnv(GymEnv("CartPole-v1"), StepCounter(max_steps=steps))


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    env = short_cartpole(20)
    env.set_seed(1)
    network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    actor = QValueActor(network, in_keys=["observation"], spec=env.action_spec)
    explore = EGreedyModule(spec=env.action_spec, annealing_num_steps=200)
    collector = Collector(env, TensorDictSequential(actor, explore), frames_per_batch=16, total_frames=160)
    buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(200), batch_size=32, priority_key="td_error")
    loss_module = DQNLoss(actor, action_space=env.action_spec, delay_value=True)
    loss_module.make_value_estimator(gamma=0.99)
    target = SoftUpdate(loss_module, tau=0.05)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)
    logger = CSVLogger("dqn", log_dir="logs")
    for number, data in enumerate(collector):
        buffer.extend(data)
        explore.step(data.numel())
        for _ in range(2):
            batch = buffer.sample()
            loss = loss_module(batch)["loss"]
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            buffer.update_tensordict_priority(batch)
            target.step()
        logger.log_scalar("loss", float(loss), step=number)
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        print(env.rollout(10, actor, break_when_any_done=False).numel())
        print(float(loss_module(buffer.sample())["loss"]) > 0)
    with torch.no_grad():
        # One of the two is done before the other, and then steps no more.
        lengths = [lambda: short_cartpole(3), lambda: short_cartpole(7)]
        SerialEnv(2, lengths).rollout(20, actor, break_when_any_done=False, break_when_all_done=True)
    collector.shutdown()


if __name__ == "__main__":
    main()
