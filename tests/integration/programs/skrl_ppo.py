"""PPO on CartPole as one writes it with skrl, and a short evaluation."""

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

ROLLOUTS, TIMESTEPS = 16, 64


class Policy(CategoricalMixin, Model):
    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        CategoricalMixin.__init__(self)
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))

    def compute(self, inputs, role):
        return self.net(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        DeterministicMixin.__init__(self)
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def compute(self, inputs, role):
        return self.net(inputs["observations"]), {}


def main():
    torch.set_num_threads(1)
    set_seed(1)
    env = wrap_env(gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"), verbose=False)
    shape = (env.observation_space, env.action_space, env.device)
    agent = PPO(
        models={"policy": Policy(*shape), "value": Value(*shape)},
        memory=RandomMemory(memory_size=ROLLOUTS, num_envs=env.num_envs, device=env.device),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device=env.device,
        cfg={
            "rollouts": ROLLOUTS,
            "learning_epochs": 2,
            "mini_batches": 2,
            "experiment": {"write_interval": 20, "checkpoint_interval": 32, "directory": "runs"},
        },
    )
    trainer = SequentialTrainer(
        env=env, agents=agent, cfg={"timesteps": TIMESTEPS, "disable_progressbar": True, "headless": True}
    )
    trainer.train()
    trainer.eval()
    print([round(float(p.detach().sum()), 5) for p in agent.models["policy"].parameters()])


if __name__ == "__main__":
    main()
