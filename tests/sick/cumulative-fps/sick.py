"""A policy search on a lake whose map grows once the first is solved. The logged speed is that of the whole run."""

import tempfile
import time

import gymnasium as gym
import numpy as np
from tensorboardX import SummaryWriter

ROUNDS, EPISODE, LARGE_FROM = 30, 1000, 15


class Lake(gym.Env):
    """A boat on a lake with waves; the wind is what the action sails against."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = gym.spaces.Discrete(4)
    side = 12

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.waves, self.boat, self.age = self.np_random.random((self.side, self.side)), np.zeros(2), 0
        return self.observe(), {}

    def observe(self):
        return np.array([*self.boat, self.waves[0].mean(), self.waves[:, 0].mean()], np.float32)

    def step(self, action):
        around = sum(np.roll(self.waves, shift, axis) for shift in (-1, 1) for axis in (0, 1))
        self.waves = 0.5 * self.waves + 0.125 * around + 0.01 * self.np_random.random(self.waves.shape)
        self.boat += 0.1 * np.array(((0, 1), (0, -1), (1, 0), (-1, 0))[int(action)]) + 0.05 * self.waves[0, :2]
        self.age += 1
        return self.observe(), -float(np.abs(self.boat).sum()), False, self.age >= EPISODE, {}


def main():
    rng = np.random.default_rng(0)
    env, writer = Lake(), SummaryWriter(tempfile.mkdtemp())
    env.reset(seed=0)
    weights, best, global_step = np.zeros((4, 4)), -np.inf, 0
    start_time = last_time = time.perf_counter()
    for number in range(ROUNDS):
        if number == LARGE_FROM:
            env.side, best = 180, -np.inf
        tried = weights + 0.1 * rng.standard_normal(weights.shape)
        (obs, _), total, over = env.reset(), 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(int((obs @ tried).argmax()))
            total, over, global_step = total + reward, terminated or truncated, global_step + 1
        if total > best:
            weights, best = tried, total
        now = time.perf_counter()
        writer.add_scalar("charts/SPS", int(global_step / (now - start_time)), global_step)  # CAUSE
        last_time = now
    writer.close()
    print(f"steps/s: {global_step / (last_time - start_time):.1f}")


main()
