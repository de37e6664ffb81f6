"""A program that makes more calls than can be timed: its cost stays small, its counts exact, its times right."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import assert_ledgers_close, run_recorded, write_program

STEPS = 400

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
