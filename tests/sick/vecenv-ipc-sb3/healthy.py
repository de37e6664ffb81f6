"""PPO of Stable-Baselines3 on CartPole, all in one process."""

import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv


def main():
    torch.set_num_threads(1)
    envs = make_vec_env("CartPole-v1", n_envs=8, seed=0, vec_env_cls=DummyVecEnv)
    model = PPO("MlpPolicy", envs, n_steps=128, batch_size=512, n_epochs=1, seed=0, device="cpu")
    steps = 24576
    started = time.perf_counter()
    model.learn(steps)
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {steps / took:.1f}")


if __name__ == "__main__":
    main()
