"""Programs that know nothing of rlprof: their phases, steps, iterations and updates are seen all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Json, calls, phases, run_bare, run_recorded, write_program

SINGLE_FILE_PPO = """
    import gymnasium as gym
    import numpy as np
    import torch
    from torch import nn

    torch.manual_seed(1)
    torch.set_num_threads(1)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(4)])
    actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    observation, _ = envs.reset(seed=1)
    total = 0.0
    for _ in range(ITERATIONS):
        observations, actions, rewards = [], [], []
        for _ in range(32):
            tensor = torch.as_tensor(observation, dtype=torch.float32)
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=actor(tensor)).sample()
            observation, reward, _, _, _ = envs.step(action.numpy())
            observations.append(tensor)
            actions.append(action)
            rewards.append(torch.as_tensor(reward, dtype=torch.float32))
            total += float(reward.sum())
        stacked = torch.stack(observations)
        for _ in range(4):
            advantage = torch.stack(rewards) - critic(stacked).squeeze(-1)
            chosen = torch.distributions.Categorical(logits=actor(stacked)).log_prob(torch.stack(actions))
            loss = -(chosen * advantage.detach()).mean() + advantage.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
    print(total, [float(p.sum()) for p in parameters])
"""

SB3 = """
    import sys
    import torch
    from stable_baselines3 import DQN, PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    if __name__ == "__main__":
        torch.set_num_threads(1)
        kind = sys.argv[1]
        if kind == "dqn":
            model = DQN("MlpPolicy", "CartPole-v1", seed=1, learning_starts=200, train_freq=4)
            model.learn(1200)
        else:
            backend = SubprocVecEnv if kind == "subproc" else DummyVecEnv
            env = make_vec_env("CartPole-v1", n_envs=2, seed=1, vec_env_cls=backend)
            model = PPO("MlpPolicy", env, n_steps=128, batch_size=64, n_epochs=3, seed=1)
            model.learn(768)
            env.close()  # else the workers are terminated, and their last half second with them
        print([float(p.detach().sum()) for p in model.policy.parameters()])
"""


def check_ledger(report: Json) -> None:
    for process in report["run"]["processes"]:
        ledger = process["ledger"]
        parts = ledger["attributed_seconds"] + ledger["unattributed_seconds"] + ledger["overhead_seconds"]
        assert parts == pytest.approx(ledger["wall_seconds"], rel=0.001)


@pytest.fixture(scope="module")
def single_file(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("gymnasium")
    folder = tmp_path_factory.mktemp("single")
    script = write_program(folder, SINGLE_FILE_PPO.replace("ITERATIONS", "12"))
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    return recorded.report()


def test_a_single_file_program_is_told_apart_into_acting_env_and_learning(single_file: Json) -> None:
    check_ledger(single_file)
    found = phases(single_file)
    wanted = {"env.step", "policy.forward", "learn.loss", "learn.backward", "learn.optimizer", "learn.other"}
    assert wanted <= set(found)
    assert found["env.step"]["calls"] == 12 * 32
    assert found["policy.forward"]["calls"] == 12 * 32
    assert found["learn.backward"]["calls"] == found["learn.optimizer"]["calls"] == 12 * 4


def test_steps_updates_and_iterations_of_a_single_file_program_are_counted(single_file: Json) -> None:
    throughput = single_file["throughput"]
    assert throughput["env_steps"] == 12 * 32 * 4
    assert throughput["updates"] == 12 * 4
    assert throughput["iterations"] == 10  # the first turn is seen after the first update, the last never ends


def test_an_annotated_program_is_counted_once(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    annotated = SINGLE_FILE_PPO.replace("ITERATIONS", "3").replace(
        "total += float(reward.sum())", "total += float(reward.sum()); rlprof.count('env_steps', 4)"
    )
    script = write_program(tmp_path, annotated.replace("import gymnasium as gym", "import rlprof, gymnasium as gym"))
    assert run_recorded(script).report()["throughput"]["env_steps"] == 3 * 32 * 4


def run_sb3(folder: Path, kind: str) -> Json:
    pytest.importorskip("stable_baselines3")
    script = write_program(folder, SB3)
    bare, recorded = run_bare(script, kind), run_recorded(script, kind)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    report = recorded.report()
    check_ledger(report)
    return report


def test_stable_baselines_ppo_needs_no_annotation(tmp_path: Path) -> None:
    report = run_sb3(tmp_path, "dummy")
    found = phases(report)
    for phase, times in {
        "env.step": 384,
        "buffer.add": 384,
        "advantage": 3,
        "learn.backward": 36,
        "learn.optimizer": 36,
    }.items():
        assert found[phase]["calls"] == times, phase
    assert found["policy.forward"]["calls"] >= 384
    assert {"learn.loss", "buffer.sample", "env.reset"} <= set(found)
    assert report["throughput"]["env_steps"] == 768
    assert report["throughput"]["updates"] == 36


def test_stable_baselines_dqn_needs_no_annotation(tmp_path: Path) -> None:
    report = run_sb3(tmp_path, "dqn")
    found = phases(report)
    assert found["env.step"]["calls"] == report["throughput"]["env_steps"] == 1200
    assert found["buffer.add"]["calls"] == 1200
    assert found["buffer.sample"]["calls"] == found["learn.backward"]["calls"] == report["throughput"]["updates"]
    assert report["throughput"]["updates"] > 200
    losses = [entry for entry in report["operations"] if entry["path"][-2:] == ["loss", "forward"]]
    assert sum(entry["calls"] for entry in losses) == 2 * report["throughput"]["updates"]  # the target's, too


def test_workers_of_a_subprocess_vector_env_are_processes_of_the_report(tmp_path: Path) -> None:
    report = run_sb3(tmp_path, "subproc")
    found = phases(report)
    assert calls(report, "env.ipc") == found["env.wait"]["calls"] == 384
    assert calls(report, "start workers") == 1
    assert calls(report, "env.get_attr") == 0  # the constructor's: a wait until the workers have imported everything
    assert report["throughput"]["env_steps"] == 768
    workers = [process for process in report["run"]["processes"] if process["role"] == "forkserver"]
    assert len(workers) == 2
    for worker in workers:
        assert {entry["phase"]: entry["calls"] for entry in worker["phases"]}["env.step"] == 384


def test_probes_can_be_left_out(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    script = write_program(tmp_path, SINGLE_FILE_PPO.replace("ITERATIONS", "2"))
    report = run_recorded(script, options=["--no-probes"]).report()
    assert phases(report) == {}
    assert report["throughput"]["env_steps"] is None
