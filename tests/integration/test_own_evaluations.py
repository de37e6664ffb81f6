"""Functions of the program that test its policy are told from training, by name and by what happens in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Json, assert_ledgers_close, calls, run_bare, run_recorded, write_program

WALK = """
    import numpy as np

    class Walk:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)

        def reset(self):
            self.place, self.time = 0.0, 0
            return np.array([self.place])

        def step(self, action):
            self.place += 0.1 * action + 0.01 * self.rng.normal()
            self.time += 1
            return np.array([self.place]), -abs(self.place), self.time >= 10, {}
"""
TRAINING = """
    def play(env, weight, learn):
        seen, total, over = env.reset(), 0.0, False
        while not over:
            seen, reward, over, _ = env.step(float(np.sign(-weight * seen[0])))
            weight += 0.01 * reward if learn else 0.0
            total += reward
        return weight, total

    def evaluate(weight):
        return play(other, weight, False)[1]

    class Agent:
        def run_test(self, weight):
            return evaluate(weight)

        def evaluate(self, seen):
            return 2.0 * seen

    env, other, weight, agent = Walk(0), Walk(1), 1.0, Agent()
    for turn in range(20):
        weight, _ = play(env, weight, True)
        agent.evaluate(weight)
        if turn % 5 == 4:
            print(round(evaluate(weight), 3), round(agent.run_test(weight), 3))
"""
EVOLUTION = """
    def evaluate(weight):
        env = Walk(0)
        seen, total, over = env.reset(), 0.0, False
        while not over:
            seen, reward, over, _ = env.step(float(np.sign(-weight * seen[0])))
            total += reward
        return total

    rng, best = np.random.default_rng(0), 0.0
    for turn in range(20):
        best = max([best + rng.normal() for _ in range(3)], key=evaluate)
    print(round(best, 3))
"""


def recorded(folder: Path, source: str) -> Json:
    program = write_program(folder, WALK + source)
    done = run_recorded(program)
    assert (done.code, run_bare(program).out) == (0, done.out), done.err
    report = done.report()
    assert_ledgers_close(report)
    return report


def test_tests_of_the_policy_are_evaluations_and_their_steps_no_training(tmp_path: Path) -> None:
    report = recorded(tmp_path, TRAINING)
    # 4 turns with two tests each. The very first one only shows that environments are stepped in it.
    assert calls(report, "evaluate") == 7
    assert report["throughput"]["env_steps"] == 200 + 10
    assert {(item["name"].partition(":")[2], item["role"]) for item in report["inferred"] if item["role"] != "env"} == {
        ("evaluate", "evaluate"),
        ("Agent.run_test", "evaluate"),
    }


def test_a_decorator_of_a_library_hides_no_evaluation(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    decorated = TRAINING.replace(
        "    def evaluate(weight)", "    import torch\n\n    @torch.no_grad()\n    def evaluate(weight)"
    )
    report = recorded(tmp_path, decorated)
    assert calls(report, "evaluate") == 7
    place = next(item for item in report["inferred"] if item["name"].endswith(":evaluate"))
    assert Path(place["file"]).name == "program.py"


def test_a_trainer_that_evaluates_by_a_method_is_seen(tmp_path: Path) -> None:
    """`Agent.evaluate`, by contrast, is asked about an observation and steps nothing."""
    report = recorded(
        tmp_path,
        TRAINING.replace("    class Agent:", "    class Trainer:\n        def evaluate(self, weight):\n"
                         "            return play(other, weight, False)[1]\n\n    class Agent:")
        .replace("round(evaluate(weight), 3)", "round(Trainer().evaluate(weight), 3)"),
    )  # fmt: skip
    assert calls(report, "evaluate") == 3 + 3
    listed = {item["name"].partition(":")[2] for item in report["inferred"] if item["role"] == "evaluate"}
    assert {"Trainer.evaluate", "Agent.run_test"} <= listed
    assert "Agent.evaluate" not in listed


def test_where_all_playing_is_done_in_it_it_is_training(tmp_path: Path) -> None:
    report = recorded(tmp_path, EVOLUTION)
    assert calls(report, "evaluate") == 0
    assert report["throughput"]["env_steps"] == 20 * 3 * 10


def test_a_project_can_say_that_a_function_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.rlprof]\nnot_evaluation = ["__main__:evaluate"]\n', encoding="utf-8"
    )
    report = recorded(tmp_path, TRAINING)
    assert calls(report, "evaluate") == 3


GRADIENTS = """
    import gymnasium as gym
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters())
    env, other = gym.make("CartPole-v1"), gym.make("CartPole-v1")

    @torch.no_grad()
    def evaluate():
        seen, _ = other.reset(seed=1)
        for _ in range(5):
            seen, *_ = other.step(int(net(torch.as_tensor(seen)).argmax()))

    for turn in range(10):
        seen, _ = env.reset(seed=turn)
        chances = []
        for _ in range(8):
            drawn = torch.distributions.Categorical(logits=net(torch.as_tensor(seen)))
            action = drawn.sample()
            chances.append(drawn.log_prob(action))
            seen, *_ = env.step(int(action))
        optimizer.zero_grad()
        (-torch.stack(chances).mean()).backward()
        optimizer.step()
        evaluate()
"""


def test_after_an_evaluation_the_program_collects_anew(tmp_path: Path) -> None:
    """The steps of the evaluation are the first after an update, and no rollout begins with them."""
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    report = recorded(tmp_path, GRADIENTS)
    # The first turns only show where it acts and what evaluates.
    assert calls(report, "evaluate") == 9
    assert calls(report, "collecting") >= 7


GYMNASIUM = """
    import gymnasium as gym

    class Walk(gym.Env):
        observation_space = gym.spaces.Box(-10, 10, (1,))
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.time = 0
            return self.observation_space.sample(), {}

        def step(self, action):
            self.time += 1
            return self.observation_space.sample(), 1.0, self.time >= 10, False, {}

    def play(envs, steps):
        envs.reset(seed=1)
        for _ in range(steps):
            envs.step(envs.action_space.sample())

    def evaluate():
        play(Walk(), 10)
        play(gym.vector.SyncVectorEnv([Walk, Walk]), 10)

    envs = gym.vector.SyncVectorEnv([Walk, Walk, Walk])
    for turn in range(4):
        play(envs, 10)
        evaluate()
"""


def test_steps_of_a_librarys_environments_inside_of_an_evaluation_are_no_training_either(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    report = run_recorded(write_program(tmp_path, GYMNASIUM)).report()
    assert calls(report, "evaluate") == 3
    training, first_test = 4 * 10 * 3, 10 + 10 * 2
    assert report["throughput"]["env_steps"] == training + first_test
