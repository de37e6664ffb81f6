"""PPO or DQN on CartPole as one writes them with tianshou. The argument says which, and where environments run."""

import sys
import warnings

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, SubprocVectorEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic


def cartpole():
    return gym.make("CartPole-v1")


def ppo(space):
    actor = DiscreteActor(preprocess_net=Net(state_shape=(4,), hidden_sizes=[16]), action_shape=2)
    critic = DiscreteCritic(preprocess_net=Net(state_shape=(4,), hidden_sizes=[16]))
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=space,
        action_scaling=False,
    )
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3))
    return algorithm, OnPolicyTrainerParams, {"collection_step_num_env_steps": 32, "update_step_num_repetitions": 2}


def dqn(space):
    net = Net(state_shape=(4,), action_shape=2, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=net, action_space=space, eps_training=0.1)
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=0.9,
        n_step_return_horizon=3,
        target_update_freq=10,
    )
    options = {"collection_step_num_env_steps": 8, "update_step_num_gradient_steps_per_sample": 0.25}
    return algorithm, OffPolicyTrainerParams, options


def main(kind):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    np.random.seed(1)
    torch.manual_seed(1)
    backend = SubprocVectorEnv if kind == "subproc" else DummyVectorEnv
    train_envs, test_envs = backend([cartpole, cartpole]), DummyVectorEnv([cartpole])
    train_envs.seed(1)
    test_envs.seed(1)
    algorithm, params, options = (dqn if kind == "dqn" else ppo)(cartpole().action_space)
    algorithm.run_training(
        params(
            training_collector=Collector(algorithm, train_envs, VectorReplayBuffer(400, 2)),
            test_collector=Collector(algorithm, test_envs),
            max_epochs=2,
            epoch_num_steps=64,
            test_step_num_episodes=1,
            batch_size=16,
            show_progress=False,
            **options,
        )
    )
    train_envs.close()
    test_envs.close()
    print([round(float(p.detach().sum()), 5) for p in algorithm.policy.parameters()])


if __name__ == "__main__":
    main(sys.argv[1])
