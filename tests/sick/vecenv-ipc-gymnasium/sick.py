"""REINFORCE with a linear policy on eight CartPoles, each in a process of its own."""

import time

import gymnasium as gym
import numpy as np


def make_env():
    return gym.make("CartPole-v1")


def rollout(envs, weights, rng, observations, horizon):
    states, actions, rewards, dones = [], [], [], []
    for _ in range(horizon):
        logits = observations @ weights
        right = 1.0 / (1.0 + np.exp(logits[:, 0] - logits[:, 1]))
        chosen = (rng.random(len(right)) < right).astype(np.int64)
        states.append(observations)
        actions.append(chosen)
        observations, reward, terminated, truncated, _ = envs.step(chosen)  # CAUSE
        rewards.append(reward)
        dones.append(terminated | truncated)
    return observations, np.stack(states), np.stack(actions), np.stack(rewards), np.stack(dones)


def returns_of(rewards, dones, gamma=0.99):
    total = np.zeros_like(rewards)
    running = np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        running = rewards[step] + gamma * running * (1.0 - dones[step])
        total[step] = running
    return total


def improve(weights, states, actions, returns, rate=0.01):
    advantages = (returns - returns.mean()) / (returns.std() + 1e-8)
    logits = states @ weights
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    gradient = (np.eye(2)[actions] - shares) * advantages[..., None]
    return weights + rate * np.einsum("tni,tnj->ij", states, gradient) / advantages.size


def main():
    rng = np.random.default_rng(0)
    envs = gym.vector.AsyncVectorEnv([make_env for _ in range(8)])  # CAUSE
    observations, _ = envs.reset(seed=0)
    weights = np.zeros((4, 2))
    iterations, horizon = 60, 64
    started = time.perf_counter()
    for _ in range(iterations):
        observations, states, actions, rewards, dones = rollout(envs, weights, rng, observations, horizon)
        weights = improve(weights, states, actions, returns_of(rewards, dones))
    took = time.perf_counter() - started
    envs.close()
    print(f"steps/s: {iterations * horizon * 8 / took:.1f}")


if __name__ == "__main__":
    main()
