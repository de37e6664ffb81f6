"""Classes of a script that are sent to other processes whole: looked into there, and readable where rlprof is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.programs import run_recorded, write_program

ENVS = """
    import gymnasium as gym
    import numpy as np

    class Mine(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.t = 0
            return np.zeros(2, np.float32), {}

        def step(self, action):
            self.t += 1
            return np.zeros(2, np.float32), 1.0, self.t >= 20, False, {}
"""

WORKERS = (
    ENVS
    + """
    from stable_baselines3.common.vec_env import SubprocVecEnv

    if __name__ == "__main__":
        envs = SubprocVecEnv([Mine, Mine], start_method="forkserver")
        envs.reset()
        for _ in range(100):
            envs.step([0, 1])
        envs.close()
"""
)

SENT = (
    ENVS
    + """
    import cloudpickle

    env = Mine()
    env.reset()
    env.step(0)
    with open("sent.pickle", "wb") as file:
        cloudpickle.dump(Mine, file)
"""
)

READ = """
import pickle, sys
sys.modules["rlprof"] = None  # importing it fails
Mine = pickle.load(open("sent.pickle", "rb"))
env = Mine()
env.reset()
print(type(Mine.__dict__["step"]).__name__, env.step(1)[1])
"""


def test_an_environment_of_the_script_is_looked_into_in_workers_that_get_it_by_value(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    report = run_recorded(write_program(tmp_path, WORKERS)).report()
    steps = {o["process"]: o["calls"] for o in report["operations"] if o["path"] == ["env.step"]}
    assert sorted(steps.values()) == [100, 100, 100]  # the parent's vector steps, and each worker's own
    assert report["throughput"]["env_steps"] == 200


def test_a_class_that_was_sent_can_be_read_without_rlprof(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("cloudpickle")
    assert run_recorded(write_program(tmp_path, SENT)).code == 0
    read = subprocess.run([sys.executable, "-c", READ], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (read.stdout, read.returncode) == ("function 1.0\n", 0), read.stderr
