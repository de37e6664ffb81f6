"""Programs in one file that mark nothing: the order of events says when they collect, learn and work out advantages."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Json, assert_ledgers_close, operations, phase_calls, run_bare, run_recorded, write_program

SETUP = """
    import sys
    import gymnasium as gym
    import numpy as np
    import torch
    from torch import nn

    torch.manual_seed(1)
    torch.set_num_threads(1)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(2)])
"""

PPO = (
    SETUP
    + """
    ITERATIONS, STEPS, EPOCHS = 6, 32, 4
    actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
    observations = torch.zeros(STEPS, 2, 4)
    values, rewards, advantages = torch.zeros(3, STEPS, 2)
    observation = torch.Tensor(envs.reset(seed=1)[0])
    for iteration in range(ITERATIONS):
        for step in range(STEPS):
            observations[step] = observation
            with torch.no_grad():
                logits = actor(observation)
                value = critic(observation)
            values[step] = value.flatten()
            action = torch.distributions.Categorical(logits=logits).sample()
            found, reward, *_ = envs.step(action.numpy())
            rewards[step] = torch.tensor(reward)
            observation = torch.Tensor(found)
        with torch.no_grad():
            following, last = critic(observation).flatten(), 0.0
            for step in reversed(range(STEPS)):
                delta = rewards[step] + 0.99 * following - values[step]
                advantages[step] = last = delta + 0.95 * last
                following = values[step]
        for epoch in range(EPOCHS):
            chosen = torch.randperm(STEPS)[: STEPS // 2]
            logits = actor(observations[chosen])
            loss = -(logits.log_softmax(-1)[..., 0] * advantages[chosen]).mean() + critic(observations[chosen]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print([float(p.sum()) for p in actor.parameters()])
"""
)

DQN = (
    SETUP
    + """
    online, target = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.Adam(online.parameters())
    observation, _ = envs.reset(seed=1)
    for step in range(60):
        with torch.no_grad():
            action = online(torch.Tensor(observation)).argmax(-1)
        following, reward, *_ = envs.step(action.numpy())
        if step % 6 == 5:
            with torch.no_grad():
                goal = torch.Tensor(reward) + 0.99 * target(torch.Tensor(following)).max(-1).values
            chosen = online(torch.Tensor(observation)).max(-1).values
            loss = (chosen - goal).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        observation = following
    print([float(p.sum()) for p in online.parameters()])
"""
)


def report_of(tmp_path: Path, source: str) -> Json:
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    script = write_program(tmp_path, source)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    report = recorded.report()
    assert_ledgers_close(report)
    return report


def named(report: Json, name: str) -> int:
    return sum(found["calls"] for found in operations(report, name))


def test_a_rollout_its_advantages_and_its_minibatches_are_told_apart(tmp_path: Path) -> None:
    report = report_of(tmp_path, PPO)
    calls = phase_calls(report)
    assert named(report, "collecting") == 5  # what comes before the first update may be anything
    assert named(report, "learning") == 6
    assert named(report, "advantage") == 3  # the first updates tell what is trained, two more make it sure
    assert calls["advantage"] == 3
    # Three lines store a step each; one is believed when two env steps came before it. Advantages are no storage.
    assert calls["buffer.add"] == 2 * (6 * 32 - 3) + (6 * 32 - 2)
    assert calls["policy.forward"] == 6 * (2 * 32 + 1)
    assert report["throughput"]["updates"] == 24


def test_the_targets_of_an_actor_and_two_critics_are_part_of_the_loss(tmp_path: Path) -> None:
    made = "twin, slow_actor = nn.Linear(4, 2), nn.Linear(4, 2)"
    asked = "torch.min(target(torch.Tensor(following)), twin(torch.Tensor(following)))"
    several = (
        DQN.replace("online, target =", f"{made}\n    online, target =")
        .replace("target(torch.Tensor(following))", asked)
        .replace(
            "                goal =",
            "                wanted = slow_actor(torch.Tensor(following))\n                goal =",
        )
    )
    report = report_of(tmp_path, several)
    # The first three updates of three targets each came before their places were believed.
    assert phase_calls(report)["policy.forward"] == 60 + 3 * 3
    assert named(report, "loss") == 10


MEMORY = """
    class Memory:
        def __init__(self):
            self.stored = []
            np.random.seed(1)
        def add(self, *transition):
            self.stored.append(transition)
        def sample(self, size):
            chosen = [self.stored[i] for i in np.random.randint(len(self.stored), size=size)]
            return [torch.Tensor(np.concatenate(column)) for column in zip(*chosen)]

    memory = Memory()
    online, target = """
#: The replay buffer is the program's own, and known for one from its second draw on.
REPLAYED = (
    DQN.replace("\n    online, target = ", MEMORY)
    .replace("if step % 6 == 5:", "memory.add(observation, following)\n        if step % 6 == 5:")
    .replace(
        "            with torch.no_grad():\n                goal =",
        "            before, after = memory.sample(3)\n            with torch.no_grad():\n                goal =",
    )
    .replace("target(torch.Tensor(following)).max(-1).values", "target(after).max(-1).values.mean()")
)


#: One function asks networks for whatever it is.
ASKED = REPLAYED.replace(
    "observation,",
    "def ask(network, x):\n        with torch.no_grad():\n            return network(x)\n\n    observation,",
    1,
).replace("online(torch.Tensor(observation)).argmax(-1)", "ask(online, torch.Tensor(observation)).argmax(-1)")


def test_a_trained_actor_that_is_asked_for_the_action_after_a_draw_does_not_act(tmp_path: Path) -> None:
    """As in soft actor-critic: the next action is the trained actor's, what it is worth a target's."""
    asked = "following_action = online(after).argmax(-1)\n                goal ="
    report = report_of(tmp_path, REPLAYED.replace("goal =", asked))
    # The first three updates of two targets each came before their places were believed.
    assert phase_calls(report)["policy.forward"] == 60 + 2 * 3
    assert named(report, "loss") == 10


def test_what_is_asked_between_a_draw_and_an_update_does_not_act(tmp_path: Path) -> None:
    """As for the temperature of soft actor-critic, whose loss asks no network."""
    second = """
            with torch.no_grad():
                chances = online(before).softmax(-1)
            other = (temperature * chances.mean()).sum()
            other.backward()
            cooling.step()
        observation = following"""
    made = "temperature = torch.ones(1, requires_grad=True)\n    cooling = torch.optim.SGD([temperature])\n"
    source = REPLAYED.replace("    observation,", f"    {made}    observation,", 1).replace(
        "\n        observation = following", second
    )
    report = report_of(tmp_path, source)
    assert report["throughput"]["updates"] == 20
    assert phase_calls(report)["policy.forward"] <= 60 + 2 * 3


def test_a_place_that_acts_and_learns_is_not_taken_for_a_target(tmp_path: Path) -> None:
    source = ASKED.replace("target(after)", "ask(target, after)")
    report = report_of(tmp_path, source)
    assert phase_calls(report)["policy.forward"] >= 60
    assert phase_calls(report)["env.step"] == 60
    assert phase_calls(report)["learn.backward"] == 10


def test_a_function_that_acts_is_asked_for_learning_after_each_of_many_draws(tmp_path: Path) -> None:
    """As in soft actor-critic with several updates to an env step: what acts next comes after an update, too."""
    source = ASKED.replace("target(after)", "ask(online, after)").replace(
        "if step % 6 == 5:", "for _ in range(4 if step % 2 else 0):"
    )
    report = report_of(tmp_path, source)
    assert phase_calls(report)["learn.backward"] == 120
    # Of 120 that learn the first few count as acting, and of 60 that act the first two or three as learning.
    assert 60 - 4 <= phase_calls(report)["policy.forward"] <= 60 + 6


def test_a_place_that_acts_is_asked_for_learning_after_updates(tmp_path: Path) -> None:
    """As a trust region does that looks how far the policy has gone: with the function that acts, too."""
    source = """
    import gymnasium as gym
    import torch

    env = gym.make("CartPole-v1")
    policy = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(policy.parameters(), 1e-3)

    def ask(states):
        with torch.no_grad():
            return policy(states).log_softmax(-1)

    observation, _ = env.reset(seed=1)
    for _ in range(10):
        states = []
        for _ in range(8):
            states.append(torch.Tensor(observation))
            observation, *_ = env.step(int(ask(states[-1]).argmax()))
        states, before = torch.stack(states), None
        for _ in range(12):
            loss = policy(states).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            now = ask(states)
            gone = 0.0 if before is None else (now - before).abs().max().item()
            before = now
    """
    report = report_of(tmp_path, source)
    # The first few of 120 that learn count as acting, and the first to act after updates once for each of ten rollouts.
    assert 80 - 10 <= phase_calls(report)["policy.forward"] <= 80 + 12
    assert report["throughput"]["updates"] == 120


def test_the_target_of_a_loss_is_part_of_it_and_no_acting(tmp_path: Path) -> None:
    """The replay buffer is a library's that could run the loop, too; here it is the program that does."""
    pytest.importorskip("stable_baselines3")
    buffer = "ReplayBuffer(100, envs.single_observation_space, envs.single_action_space, n_envs=2)"
    add = "buffer.add(observation, following, action.numpy(), reward, reward, [{}, {}])"
    stored = (
        DQN.replace("import sys", "from stable_baselines3.common.buffers import ReplayBuffer\n    import sys")
        .replace("online, target =", f"buffer = {buffer}\n    online, target =")
        .replace("observation = following", f"{add}\n        observation = following")
    )
    report = report_of(tmp_path, stored)
    calls = phase_calls(report)
    assert (calls["buffer.add"], named(report, "learning")) == (60, 10)
    assert calls["policy.forward"] == 60 + 3  # the target's first three, before its place was believed
    assert named(report, "loss") == 10
    assert "advantage" not in calls


@pytest.mark.parametrize(
    "mark",
    ["with rlprof.profile('mine'): pass", "with torch.profiler.record_function('mine'): pass"],
    ids=["span", "range"],
)
def test_nothing_is_inferred_where_the_program_marks_its_work(tmp_path: Path, mark: str) -> None:
    marked = PPO.replace("import sys", "import sys, rlprof").replace(
        "for iteration in range(ITERATIONS):", f"for iteration in range(ITERATIONS):\n        {mark}"
    )
    report = report_of(tmp_path, marked)
    assert named(report, "collecting") == named(report, "learning") == named(report, "advantage") == 0
    assert named(report, "mine") == 6


def test_a_program_that_begins_to_mark_its_work_is_believed_from_then_on(tmp_path: Path) -> None:
    marked = DQN.replace("import sys", "import sys, rlprof").replace(
        "observation = following",
        "observation = following\n        if step > 40:\n            with rlprof.profile('mine'): pass",
    )
    report = report_of(tmp_path, marked)
    assert named(report, "mine") == 19
    assert 0 < named(report, "learning") < 10
