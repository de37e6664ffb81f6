"""A program that makes more calls than can be timed: its cost stays small, its counts exact, its times right."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import assert_ledgers_close, run_recorded, write_program

pytestmark = pytest.mark.timed

STEPS = 1600  # seconds, so that rlprof comes to look at its own cost several times on a busy machine, too

PROGRAM = f"""
    import time
    import gymnasium as gym
    import torch

    torch.set_num_threads(1)
    rewards = torch.rand(1000)
    env = gym.make("CartPole-v1")
    net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
    observation, _ = env.reset(seed=1)
    by_hand = 0.0
    for step in range({STEPS}):
        with torch.no_grad():
            net(torch.as_tensor(observation))
        observation, _, terminated, truncated, _ = env.step(step % 2)
        if terminated or truncated:
            observation, _ = env.reset()
        total, begun = 0.0, time.perf_counter()
        for i in range(1000):
            total += rewards[i].item()
        by_hand += time.perf_counter() - begun
    print("seconds", by_hand)
"""


def test_a_thousand_reads_a_step_are_all_counted_and_few_are_timed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    recorded = run_recorded(write_program(tmp_path, PROGRAM))
    report = recorded.report()
    assert_ledgers_close(report)
    (item,) = [found for found in report["operations"] if found["path"][-1].startswith(".item()")]
    assert item["calls"] == 1000 * STEPS
    assert report["throughput"]["env_steps"] == STEPS
    (note,) = [warning for warning in report["warnings"] if warning["code"] == "note-thinned"]
    assert ".item() " in note["message"]
    by_hand = float(recorded.out.split()[-1])
    # The reads are a part of what was timed by hand around them: indexing a tensor takes longer than reading it.
    assert 0.03 * by_hand < item["total_seconds"] < 0.6 * by_hand


def test_with_all_the_budget_every_call_is_timed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("gymnasium")
    report = run_recorded(write_program(tmp_path, PROGRAM), options=["--budget", "100%"]).report()
    assert not [warning for warning in report["warnings"] if warning["code"] == "note-thinned"]


def test_a_budget_that_is_no_share_is_refused(tmp_path: Path) -> None:
    wrong = run_recorded(write_program(tmp_path, "print(1)"), options=["--budget", "lots"])
    assert wrong.code == 2
    assert "2%" in wrong.err


MANY_ENVS = 32

LEVELS = f"""
    import time
    import gymnasium as gym
    import numpy as np

    class Slow(gym.Wrapper):
        def step(self, action):
            time.sleep(20e-6)
            return self.env.step(action)

    envs = gym.vector.SyncVectorEnv([lambda: Slow(gym.make("Pendulum-v1"))] * {MANY_ENVS})
    envs.reset(seed=1)
    actions, steps, end = np.zeros(({MANY_ENVS}, 1), dtype=np.float32), 0, time.monotonic() + 7
    while time.monotonic() < end:
        envs.step(actions)
        steps += {MANY_ENVS}
    alone = Slow(gym.make("CartPole-v1"))
    alone.reset(seed=1)
    for _ in range(100):
        if any(alone.step(0)[2:4]):
            alone.reset()
    print(steps)
"""


def test_environments_inside_others_are_looked_at_for_a_part_of_the_time(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    recorded = run_recorded(write_program(tmp_path, LEVELS))
    report = recorded.report()
    assert_ledgers_close(report)
    steps = int(recorded.out)
    # One that was always inside, and is the outermost at the end, is counted all the same.
    assert report["throughput"]["env_steps"] == steps + 100
    (slow,) = [found for found in report["operations"] if found["path"][-2:] == ["env.step", "Slow"]]
    (step,) = [found for found in report["operations"] if found["path"] == slow["path"][:-1]]
    assert slow["calls"] == pytest.approx(steps, rel=0.05)  # estimated; each of their 200 steps is followed by a reset
    assert slow["total_seconds"] > 0.8 * step["total_seconds"]
    (note,) = [warning for warning in report["warnings"] if warning["code"] == "note-thinned"]
    assert "Slow" in note["message"]
