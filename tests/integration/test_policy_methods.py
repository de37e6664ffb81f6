"""Modules of the program that act by a method of their own: drawing the action belongs to the forward pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Json, phase_calls, run_bare, run_recorded, write_program

AGENT = """
    import copy, pickle
    import gymnasium as gym
    import torch
    from torch import nn
    from torch.distributions import Categorical

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)

        def get_value(self, observation):
            return self.critic(observation)

        def get_action_and_value(self, observation, action=None):
            chances = Categorical(logits=self.actor(observation))
            action = chances.sample() if action is None else action
            return action, chances.log_prob(action), self.critic(observation)

        def act(self):  # goes by the name, and asks no module
            yield 1

    class Clerk:
        def get_action(self, observation):
            return 0

    torch.manual_seed(1)
    torch.set_num_threads(1)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(2)])
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters())
    observation, _ = envs.reset(seed=1)
    for _ in range(3):
        for _ in range(10):
            with torch.no_grad():
                action, _, _ = agent.get_action_and_value(torch.Tensor(observation))
            observation, *_ = envs.step(action.numpy())
            Clerk().get_action(observation)
        with torch.no_grad():
            agent.get_value(torch.Tensor(observation))
        for _ in range(4):
            _, chance, value = agent.get_action_and_value(torch.Tensor(observation), action)
            loss = (value - chance).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    torch.manual_seed(2)
    again = pickle.loads(pickle.dumps(copy.deepcopy(agent)))
    compiled = torch.compile(agent.get_action_and_value, backend="eager", fullgraph=True)
    fixed = torch.ones(2, 4), torch.zeros(2)
    assert torch.equal(compiled(*fixed)[1], again.get_action_and_value(*fixed)[1])
    print(next(agent.act()), [float(p.sum()) for p in agent.parameters()], Agent.get_value.__name__)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    script = write_program(tmp_path_factory.mktemp("agent"), AGENT)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    return recorded.report()


def calls_at(report: Json, *path: str) -> int:
    """Calls of all paths that end like this."""
    return sum(entry["calls"] for entry in report["operations"] if tuple(entry["path"][-len(path) :]) == path)


def test_the_method_is_one_forward_pass_whatever_modules_it_asks(report: Json) -> None:
    acting = phase_calls(report)["policy.forward"]
    assert acting == 3 * 10 + 3  # and not one for the actor and one for the critic
    assert calls_at(report, "loss") == 3 * 4 + 1  # the last one compares two, which no `backward` tells apart
    assert calls_at(report, "loss", "forward") >= 3 * 4


def test_what_was_taken_for_a_policy_is_listed(report: Json) -> None:
    found = {entry["name"]: entry["role"] for entry in report["inferred"]}
    assert found == {"__main__:Agent.get_action_and_value": "policy", "__main__:Agent.get_value": "policy"}


def test_nothing_is_wrapped_where_there_is_no_module_and_where_a_name_is_given(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = write_program(tmp_path, AGENT)
    options = ["--span", "program:Agent.get_action_and_value=policy.teacher"]
    report = run_recorded(script, options=options).report()
    assert calls_at(report, "Agent.get_action_and_value") >= 3 * 10
    assert [entry["name"] for entry in report["inferred"]] == ["__main__:Agent.get_value"]


DECORATED = """
    import gymnasium as gym
    import torch
    from torch import nn
    from torch.distributions import Categorical

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = nn.Linear(4, 2)

        @torch.no_grad()
        def act(self, observation):
            return Categorical(logits=self.actor(observation)).sample()

        @torch.inference_mode()
        def select_action(self, observation):
            return self.actor(observation).argmax(-1)

        @torch.no_grad()
        def forward_eval(self, observation):
            return (self.actor(observation) + self.actor(-observation)).argmax(-1)

    torch.manual_seed(1)
    env, agent = gym.make("CartPole-v1"), Agent()
    observation, _ = env.reset(seed=1)
    for step in range(40):
        choose = (agent.act, agent.select_action, agent.forward_eval)[step % 3]
        observation, _, terminated, *_ = env.step(int(choose(torch.Tensor(observation))))
        if terminated:
            observation, _ = env.reset()
    print(observation)
"""


def test_a_method_that_switches_gradients_off_itself_acts(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    script = write_program(tmp_path, DECORATED)
    bare, recorded = run_bare(script), run_recorded(script)
    assert (bare.code, recorded.out) == (0, bare.out), bare.err
    report = recorded.report()
    assert phase_calls(report)["policy.forward"] == 40
    assert "learn.loss" not in phase_calls(report)
    assert {entry["name"].partition(":")[2] for entry in report["inferred"]} == {
        "Agent.act",
        "Agent.select_action",
        "Agent.forward_eval",
    }
