"""Steps a vector environment whose workers say when they were busy, and prints what each step truly consisted of.

Arguments: library, start method, workers, steps, seconds per step of the first worker and of the others, how.
"""

import json
import sys
import time

import gymnasium as gym
import numpy as np

EPISODE = 40


class Busy(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, seconds, how):
        self.seconds, self.how, self.at = seconds, how, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        begin, self.at = time.perf_counter(), 0
        return np.zeros(4, np.float32), {"begin": begin, "end": time.perf_counter(), "reset": True}

    def step(self, action):
        begin = time.perf_counter()
        if self.how == "sleep":
            time.sleep(self.seconds)
        while time.perf_counter() < begin + self.seconds:
            pass
        self.at += 1
        info = {"begin": begin, "end": time.perf_counter(), "reset": False}
        return np.zeros(4, np.float32), 1.0, self.at >= EPISODE, False, info


def split(stretches):
    """Mean, longest beyond the mean, and busy beyond the longest, of one step's stretches."""
    durations = [end - begin for begin, end in stretches]
    anybody, reach = 0.0, 0.0
    for begin, end in sorted(stretches):
        anybody += max(end - max(begin, reach), 0.0)
        reach = max(reach, end)
    mean = sum(durations) / len(durations)
    return mean, max(durations) - mean, anybody - max(durations)


def main():
    library, method, workers, steps, first, other, how = sys.argv[1:]
    count = int(workers)
    makers = [lambda s=float(first if index == 0 else other): Busy(s, how) for index in range(count)]
    if library == "sb3":
        from stable_baselines3.common.vec_env import SubprocVecEnv

        env = SubprocVecEnv(makers, start_method=method)
    else:
        env = gym.vector.AsyncVectorEnv(makers, context=method)
    env.reset()
    actions = np.zeros(count, np.int64)
    total, resets, parts = 0.0, 0, np.zeros(3)
    for _ in range(int(steps)):
        begin = time.perf_counter()
        infos = env.step(actions)[-1]
        total += time.perf_counter() - begin
        each = (
            infos if library == "sb3" else [{k: infos[k][i] for k in ("begin", "end", "reset")} for i in range(count)]
        )
        parts += split([(info["begin"], info["end"]) for info in each])
        resets += sum(bool(info["reset"]) for info in each)
    env.close()
    print(json.dumps({"total": total, "parts": parts.tolist(), "resets": resets}))


if __name__ == "__main__":
    main()
