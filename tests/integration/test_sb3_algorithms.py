"""Algorithms, callbacks and wrappers of Stable-Baselines3 and sb3-contrib come apart into phases unannotated."""

from __future__ import annotations

from typing import Any

import pytest

from support.programs import Json, assert_ledgers_close, run_bare, run_recorded, write_program

OWN = """
    import warnings

    warnings.simplefilter("ignore")
    import gymnasium as gym
    import torch
    from rlprof import profile
    from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
    from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback, EvalCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

    torch.set_num_threads(1)

    class Watching(BaseCallback):
        def _on_step(self):
            return True

    def learn(name, model, steps, callback=None):
        with profile(name):
            model.learn(steps, callback=callback)
        print(name, [float(p.detach().sum()) for p in model.policy.parameters()][:4])

    env = VecNormalize(VecMonitor(make_vec_env("CartPole-v1", n_envs=2, seed=1, monitor_dir="monitor")))
    other = VecNormalize(VecMonitor(make_vec_env("CartPole-v1", seed=2)))
    evaluation = EvalCallback(other, eval_freq=64, n_eval_episodes=2, log_path="logs", verbose=0)
    callbacks = [Watching(), evaluation, CheckpointCallback(64, "saves")]
    learn("PPO", PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=1), 256, callbacks)
    learn("A2C", A2C("MlpPolicy", "CartPole-v1", seed=1), 100)

    def small():
        return dict(seed=1, learning_starts=50, policy_kwargs=dict(net_arch=[16]), batch_size=16)

    learn("DQN", DQN("MlpPolicy", "CartPole-v1", **small()), 150)
    learn("SAC", SAC("MlpPolicy", "Pendulum-v1", **small()), 100)
    learn("TD3", TD3("MlpPolicy", "Pendulum-v1", **small()), 100)
"""

CONTRIB = """
    import warnings

    warnings.simplefilter("ignore")
    import gymnasium as gym
    import numpy as np
    import torch
    from rlprof import profile
    from sb3_contrib import ARS, QRDQN, TQC, TRPO, CrossQ, MaskablePPO, RecurrentPPO
    from sb3_contrib.common.wrappers import ActionMasker

    torch.set_num_threads(1)

    def learn(name, model, steps):
        with profile(name):
            model.learn(steps)
        print(name, [float(p.detach().sum()) for p in model.policy.parameters()][:4])

    on = dict(n_steps=64, batch_size=32, seed=1)
    off = dict(seed=1, learning_starts=50, policy_kwargs=dict(net_arch=[16]), batch_size=16)
    masked = ActionMasker(gym.make("CartPole-v1"), lambda env: np.ones(2, dtype=bool))
    learn("MaskablePPO", MaskablePPO("MlpPolicy", masked, n_epochs=2, **on), 128)
    learn("RecurrentPPO", RecurrentPPO("MlpLstmPolicy", "CartPole-v1", n_epochs=1, **on), 128)
    learn("TRPO", TRPO("MlpPolicy", "CartPole-v1", **on), 128)
    learn("ARS", ARS("LinearPolicy", "CartPole-v1", n_delta=2, seed=1), 200)
    learn("QRDQN", QRDQN("MlpPolicy", "CartPole-v1", **off), 100)
    learn("TQC", TQC("MlpPolicy", "Pendulum-v1", **off), 100)
    learn("CrossQ", CrossQ("MlpPolicy", "Pendulum-v1", **off), 70)
"""


def recorded(factory: pytest.TempPathFactory, program: str) -> Json:
    folder = factory.mktemp("program")
    bare = run_bare(write_program(folder / "bare", program))
    done = run_recorded(write_program(folder / "recorded", program))
    assert bare.code == 0, bare.err
    assert (done.code, done.out) == (0, bare.out), done.err
    report = done.report()
    assert_ledgers_close(report)
    return report


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("stable_baselines3")
    return recorded(tmp_path_factory, OWN)


@pytest.fixture(scope="module")
def contrib(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("sb3_contrib")
    return recorded(tmp_path_factory, CONTRIB)


def below(report: Json, *start: str) -> list[Json]:
    return [each for each in report["operations"] if tuple(each["path"][: len(start)]) == start]


def calls(report: Json, *path: str) -> int:
    return sum(each["calls"] for each in report["operations"] if each["path"] == list(path))


def seconds_by_phase(report: Json, algorithm: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in below(report, algorithm):
        found[each["phase"]] = found.get(each["phase"], 0.0) + each["self_seconds"]
    return found


COLLECTING = {"env.step", "policy.forward"}
LEARNING = {"learn.loss", "learn.backward", "learn.optimizer", "learn.other"}
BUFFERS = {"buffer.add", "buffer.sample"}


def check_phases(report: Json, algorithm: str, wanted: set[str]) -> None:
    found = seconds_by_phase(report, algorithm)
    assert wanted <= set(found), algorithm
    # What is left is the Python between the calls: a few percent, more where a step takes next to nothing.
    assert found["other"] < 0.3 * sum(found.values()), (algorithm, found)


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN", "SAC", "TD3"])
def test_an_algorithm_comes_apart_into_env_acting_buffers_and_learning(own: Json, algorithm: str) -> None:
    check_phases(own, algorithm, COLLECTING | LEARNING | BUFFERS)


@pytest.mark.parametrize("algorithm", ["MaskablePPO", "RecurrentPPO", "TRPO", "QRDQN", "TQC", "CrossQ"])
def test_so_does_an_algorithm_of_the_contrib_package(contrib: Json, algorithm: str) -> None:
    check_phases(contrib, algorithm, COLLECTING | LEARNING | BUFFERS)


def test_callbacks_are_named_and_what_they_evaluate_and_save_counts_as_that(own: Json) -> None:
    steps = ("PPO", "rollout", "CallbackList")
    assert calls(own, *steps) == 128 + 2 + 2  # each step, and where each rollout starts and ends
    assert calls(own, *steps, "Watching") == calls(own, *steps)
    assert calls(own, *steps, "EvalCallback", "evaluate") == 2
    assert calls(own, *steps, "CheckpointCallback", "model.save") == 2
    phases = {tuple(each["path"][3:]): each["phase"] for each in below(own, *steps)}
    assert phases[("Watching",)] == "log"
    assert phases[("EvalCallback", "evaluate")] == "evaluate"
    assert phases[("CheckpointCallback", "model.save")] == "checkpoint"


def test_wrappers_are_below_the_step_by_their_names_and_the_step_counts_once(own: Json) -> None:
    step = ("PPO", "rollout", "env.step")
    assert calls(own, *step) == 128
    vector: Any = (*step, "VecNormalize", "VecMonitor")
    assert calls(own, *vector[:4]) == calls(own, *vector) == 128
    single = (*vector, "Monitor", "TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "CartPoleEnv")
    assert calls(own, *single) == 256
    written = [each for each in below(own, *vector, "Monitor") if each["path"][-1] == "monitor.csv"]
    assert {each["phase"] for each in written} == {"log"}


def test_evaluation_steps_are_no_training_steps(own: Json) -> None:
    assert own["throughput"]["env_steps"] == 256 + 100 + 152 + 100 + 100  # DQN learns in steps of four


def test_action_masks_are_the_environments_work(contrib: Json) -> None:
    masks = below(contrib, "MaskablePPO", "rollout", "env.action_masks")
    assert (sum(each["calls"] for each in masks if len(each["path"]) == 3), masks[0]["phase"]) == (128, "env.step")


def test_a_value_function_that_is_fitted_by_its_predictions_is_learning(contrib: Json) -> None:
    training = below(contrib, "TRPO", "train")
    assert not [each for each in training if each["phase"] == "policy.forward"]
    assert [each for each in training if each["path"][-1] == "forward" and each["phase"] == "learn.loss"]


def test_the_candidates_of_a_random_search_are_rollouts_and_not_evaluations(contrib: Json) -> None:
    found = seconds_by_phase(contrib, "ARS")
    assert {"env.step", "env.reset", "policy.forward"} <= set(found)
    assert "evaluate" not in found
    steps = calls(contrib, "ARS", "rollout", "env.step")
    assert steps >= 200
    others = 128 * 3 + 100 + 100 + 70
    assert contrib["throughput"]["env_steps"] == others + steps
