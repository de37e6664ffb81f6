"""The Stable-Baselines3 programs with timers placed by hand: the same set-up, made of classes that time themselves.

The loss lies in the middle of `train`, so its timer runs from the first forward pass for learning to `backward`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import sb3_dqn
import sb3_ppo
import torch
from hand_clock import clock
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv
from stable_baselines3.dqn.policies import DQNPolicy


class TimedDummyVecEnv(DummyVecEnv):
    def __init__(self, makers: list[Callable[[], Any]]) -> None:
        super().__init__([clock.with_timed_reset(make) for make in makers])

    step = clock.timed("env.step", DummyVecEnv.step)
    reset = clock.timed("env.reset", DummyVecEnv.reset)


class TimedSubprocVecEnv(SubprocVecEnv):
    step = clock.timed("env.step", SubprocVecEnv.step)
    step_async = clock.timed("env.ipc", SubprocVecEnv.step_async)
    step_wait = clock.timed("env.wait", SubprocVecEnv.step_wait)
    reset = clock.timed("env.reset", SubprocVecEnv.reset)


class TimedAdam(torch.optim.Adam):
    step = clock.timed("learn.optimizer", torch.optim.Adam.step)
    zero_grad = clock.timed("learn.other", torch.optim.Adam.zero_grad)


class TimedPolicy(ActorCriticPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register_forward_pre_hook(lambda *_: clock.begin("policy.forward"))
        self.register_forward_hook(lambda *_: clock.end())

    predict_values = clock.timed("policy.forward", ActorCriticPolicy.predict_values)

    def evaluate_actions(self, *args: Any) -> Any:
        clock.begin("learn.loss")
        return super().evaluate_actions(*args)


class TimedRolloutBuffer(RolloutBuffer):
    add = clock.timed("buffer.add", RolloutBuffer.add)
    compute_returns_and_advantage = clock.timed("advantage", RolloutBuffer.compute_returns_and_advantage)

    def get(self, batch_size: int | None = None) -> Iterator[Any]:
        batches = super().get(batch_size)
        draw = clock.timed("buffer.sample", lambda: next(batches, None))
        while (batch := draw()) is not None:
            yield batch


class TimedPPO(PPO):
    policy_aliases = {"MlpPolicy": TimedPolicy}  # noqa: RUF012 - as the library has it

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        optimizer = {"optimizer_class": TimedAdam}
        super().__init__(*args, rollout_buffer_class=TimedRolloutBuffer, policy_kwargs=optimizer, **kwargs)

    train = clock.timed("learn.other", PPO.train)
    dump_logs = clock.timed("log", PPO.dump_logs)


class TimedDQNPolicy(DQNPolicy):
    predict = clock.timed("policy.forward", DQNPolicy.predict)


class TimedReplayBuffer(ReplayBuffer):
    sample = clock.timed("buffer.sample", ReplayBuffer.sample)


class TimedDQN(DQN):
    policy_aliases = {"MlpPolicy": TimedDQNPolicy}  # noqa: RUF012 - as the library has it

    def __init__(self, policy: str, env: str, **kwargs: Any) -> None:
        made = TimedDummyVecEnv([lambda: Monitor(gym.make(env))])
        optimizer = {"optimizer_class": TimedAdam}
        super().__init__(policy, made, replay_buffer_class=TimedReplayBuffer, policy_kwargs=optimizer, **kwargs)
        self.q_net_target.register_forward_pre_hook(lambda *_: clock.begin("learn.loss"))

    train = clock.timed("learn.other", DQN.train)
    dump_logs = clock.timed("log", DQN.dump_logs)
    _store_transition = clock.timed("buffer.add", DQN._store_transition)


def time_backward() -> None:
    plain = clock.timed("learn.backward", torch.Tensor.backward)

    def backward(*args: Any, **kwargs: Any) -> None:
        clock.end()  # the loss
        plain(*args, **kwargs)

    torch.Tensor.backward = backward


class PPOTraining(sb3_ppo.Training):
    def __init__(self, subproc: bool) -> None:
        time_backward()
        changed: Any = sb3_ppo
        changed.PPO, changed.DummyVecEnv, changed.SubprocVecEnv = TimedPPO, TimedDummyVecEnv, TimedSubprocVecEnv
        super().__init__(subproc)


class DQNTraining(sb3_dqn.Training):
    def __init__(self) -> None:
        time_backward()
        changed: Any = sb3_dqn
        changed.DQN = TimedDQN
        super().__init__()
