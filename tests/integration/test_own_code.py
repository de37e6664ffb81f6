"""Programs with environments, buffers and advantages of their own making, and functions that somebody names."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.recording import open_recording
from support.programs import (
    Json,
    Outcome,
    assert_ledgers_close,
    calls,
    phases,
    run_bare,
    run_recorded,
    warning_codes,
    write_program,
)

SINGLE_FILE = """
    import random, sys, time
    import numpy as np
    import torch
    from torch import nn

    class Pole:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)

        def reset(self):
            self.state, self.time = self.rng.normal(size=4), 0
            return self.state

        def step(self, action):
            for _ in range(40):
                self.state = self.state * 0.99 + 0.01 * action
            self.time += 1
            return self.state, 1.0, self.time >= 20, {}

    class Poles:
        def __init__(self, count):
            self.poles = [Pole(seed) for seed in range(count)]

        def reset(self):
            return np.stack([pole.reset() for pole in self.poles])

        def step(self, actions):
            observations, rewards, ended = [], [], []
            for pole, action in zip(self.poles, actions):
                observation, reward, done, _ = pole.step(action)
                observations.append(pole.reset() if done else observation)
                rewards.append(reward)
                ended.append(done)
            return np.stack(observations), np.array(rewards), np.array(ended), np.zeros(len(ended), bool), {}

    class Memory:
        def __init__(self):
            self.rows = []

        def push(self, *row):
            self.rows.append(row)

        def sample(self, size):
            return random.sample(self.rows, size)

    class WarmUp:
        def __init__(self, optimizer):
            self.optimizer, self.steps = optimizer, 0

        def reset(self):
            self.steps = 0

        def step(self, loss=None):
            self.steps += 1

    def compute_gae(rewards, values):
        advantages, last = np.zeros_like(rewards), 0.0
        for t in reversed(range(len(rewards))):
            after = values[t + 1] if t + 1 < len(values) else 0.0
            last = rewards[t] + 0.99 * after - values[t] + 0.94 * last
            advantages[t] = last
        return advantages

    def main():
        random.seed(1)
        torch.manual_seed(1)
        torch.set_num_threads(1)
        poles, memory = Poles(8), Memory()
        net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        optimizer = torch.optim.Adam(net.parameters())
        warm_up = WarmUp(optimizer)
        warm_up.reset()
        observation = poles.reset()
        started = time.perf_counter()
        for _ in range(20):
            rewards, values = [], []
            for _ in range(32):
                with torch.no_grad():
                    chosen = net(torch.as_tensor(observation, dtype=torch.float32)).max(1)
                following, reward, _, _, _ = poles.step(chosen.indices.numpy())
                memory.push(observation, reward, following)
                rewards.append(reward)
                values.append(chosen.values.numpy())
                observation = following
            target = float(compute_gae(np.array(rewards), np.array(values)).mean())
            for _ in range(8):
                batch = np.stack([row[0] for row in memory.sample(16)])
                loss = (net(torch.as_tensor(batch, dtype=torch.float32)) - target).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                warm_up.step()
        print("loop", time.perf_counter() - started, file=sys.stderr)
        print([float(p.detach().sum()) for p in net.parameters()], warm_up.steps)

    if __name__ == "__main__":
        main()
"""

TASK = """
    class Task:
        def reset(self):
            return {"position": 0}

        def step(self, action):
            return {"position": 1}, 1.0, False, False, {}

    class Rate:
        def __init__(self):
            self.steps = 0

        def reset(self):
            self.steps = 0

        def step(self, loss):
            self.steps += 1
            return 0.1 / self.steps

    class Policy:
        def sample(self, observation):
            return 0

        def store(self, path):
            pass

    def choose(observation):
        return Policy().sample(observation)

    def main():
        task, rate = Task(), Rate()
        observation = task.reset()
        for _ in range(100):
            task.step(choose(observation))
            rate.step(0.5)

    if __name__ == "__main__":
        main()
"""


@pytest.fixture(scope="module")
def single_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Json]:
    pytest.importorskip("torch")
    script = write_program(tmp_path_factory.mktemp("own"), SINGLE_FILE)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    return recorded, recorded.report()


def inferred(report: Json) -> dict[str, str]:
    return {entry["name"].partition(":")[2]: entry["role"] for entry in report["inferred"]}


def test_a_program_without_a_library_for_its_environment_is_told_apart(single_file: tuple[Outcome, Json]) -> None:
    _, report = single_file
    assert_ledgers_close(report)
    found = phases(report)
    assert {"env.step", "env.reset", "policy.forward", "buffer.add", "buffer.sample", "advantage"} <= set(found)
    assert {"learn.loss", "learn.backward", "learn.optimizer"} <= set(found)
    assert found["advantage"]["calls"] == 20
    assert found["buffer.sample"]["calls"] == 20 * 8 - 1  # the first confirms that it is one


def test_env_steps_of_a_vector_environment_are_counted_from_what_it_returns(single_file: tuple[Outcome, Json]) -> None:
    _, report = single_file
    assert report["throughput"]["env_steps"] == 20 * 32 * 8
    assert report["throughput"]["episodes"] == 20 * 32 * 8 / 20


def test_little_of_the_loop_is_left_unattributed(single_file: tuple[Outcome, Json]) -> None:
    outcome, report = single_file
    (line,) = (line for line in outcome.err.splitlines() if line.startswith("loop "))
    ledger = report["ledger"]
    assert ledger["attributed_seconds"] + ledger["overhead_seconds"] > 0.8 * float(line.split()[1])


def test_what_was_taken_for_what_is_listed_and_a_schedule_of_the_learning_rate_is_not(
    single_file: tuple[Outcome, Json],
) -> None:
    outcome, report = single_file
    assert inferred(report) == {"Pole": "env", "Poles": "env", "Memory": "buffer", "compute_gae": "advantage"}
    source = Path(report["inferred"][0]["file"]).read_text(encoding="utf-8").splitlines()
    assert all("def " in source[entry["line"] - 1] for entry in report["inferred"])
    assert outcome.own_lines == [f"rlprof: recorded into {outcome.target.name}"]


def test_a_guess_that_use_does_not_confirm_books_nothing(tmp_path: Path) -> None:
    report = run_recorded(write_program(tmp_path, TASK)).report()
    assert inferred(report) == {"Task": "env"}
    assert report["throughput"]["env_steps"] == 100
    assert set(phases(report)) == {"env.step"}


def test_a_wrong_guess_can_be_corrected(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.rlprof]\nnot_env = ["task:Task"]\n')
    report = run_recorded(write_program(tmp_path / "src", TASK, "task.py")).report()
    assert report["inferred"] == []
    assert phases(report) == {}
    assert report["throughput"]["env_steps"] is None


def test_named_functions_are_timed_in_the_script_and_in_its_modules(tmp_path: Path) -> None:
    write_program(
        tmp_path,
        """
        class Worker:
            @staticmethod
            def static(x):
                return x

            @classmethod
            def of_class(cls, x):
                return cls.__name__, x

            def generate(self):
                yield 1
                yield 2

            async def wait(self):
                return 3

        def compute():
            return 4
        """,
        "worker.py",
    )
    script = write_program(
        tmp_path,
        """
        import asyncio, time
        from worker import Worker, compute

        def early():
            return 1

        class Agent:
            def act(self):
                return early()

        class Heir(Agent):
            pass

        def late():
            return 2

        for _ in range(10):
            print(Agent().act(), Heir().act(), compute(), Worker.static(1), Worker().of_class(2))
            print(list(Worker().generate()), asyncio.run(Worker().wait()))
        time.sleep(0.8)
        for _ in range(10):
            late()
        """,
        "agent.py",
    )
    (tmp_path / "pyproject.toml").write_text('[tool.rlprof]\nspans = ["agent:Heir.act=policy.teacher"]\n')
    named = [
        "agent:Agent.act=policy.forward", "__main__:early", "agent:late", "worker:Worker.static",
        "worker:Worker.of_class", "worker:Worker.generate", "worker:Worker.wait=env.wait", "worker:compute=advantage",
    ]  # fmt: skip
    outcome = run_recorded(script, options=[word for name in named for word in ("--span", name)])
    assert outcome.out == run_bare(script).out
    report = outcome.report()
    seen = {name: calls(report, name) for name in ("Agent.act", "Heir.act", "early", "late", "compute")}
    assert seen == {"Agent.act": 20, "Heir.act": 10, "early": 20, "late": 10, "compute": 10}
    # Each item and the end of a generator is a stretch of its own.
    seen = {name: calls(report, f"Worker.{name}") for name in ("static", "of_class", "generate", "wait")}
    assert seen == {"static": 10, "of_class": 10, "generate": 30, "wait": 10}
    assert {name: entry["calls"] for name, entry in phases(report).items() if name not in ("other", "gc")} == {
        "policy.forward": 20, "policy.teacher": 10, "advantage": 10, "env.wait": 10,
    }  # fmt: skip
    assert not warning_codes(report) & {"span-not-found", "span-no-function"}


def test_what_was_named_and_never_found_is_said_once_at_the_end(tmp_path: Path) -> None:
    script = write_program(tmp_path, "class Agent:\n    def act(self): pass\nAgent().act()\n", "agent.py")
    names = ["--span", "agent:Agent.gone", "--span", "nowhere:f", "--span", "agent:Agent.act", "--span", "agent:Agent"]
    outcome = run_recorded(script, options=names)
    assert outcome.code == 0
    said = [line for line in outcome.own_lines if "recorded into" not in line]
    assert said == [
        "rlprof: nothing in the program is called agent:Agent.gone, nowhere:f, so it was not timed",
        "rlprof: agent:Agent: only functions and methods can be timed",
    ]
    assert {"span-not-found", "span-no-function"} <= warning_codes(outcome.report())


@pytest.mark.parametrize("span", ["act", "agent:", ":act", "agent:act=warp", "agent:act=", "a b:c", "agent:f()"])
def test_a_span_that_does_not_read_as_one_is_refused_before_the_program_starts(tmp_path: Path, span: str) -> None:
    script = write_program(tmp_path, "print('started')", "agent.py")
    outcome = run_recorded(script, options=["--span", span])
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert span in outcome.err


@pytest.mark.parametrize(
    "table",
    [
        "expectations = 5",
        "expectations = [{low = 0}]",
        'spans = "agent:act"',
        'spans = ["act"]',
        "not_env = [1]",
        'spams = ["agent:act"]',
        "spans = [",
        "x",
    ],
)
def test_a_table_that_does_not_read_as_one_is_refused_before_the_program_starts(tmp_path: Path, table: str) -> None:
    script = write_program(tmp_path / "src", "print('started')", "agent.py")
    (tmp_path / "pyproject.toml").write_text(f"[tool.rlprof]\n{table}\n")
    outcome = run_recorded(script)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert "pyproject.toml" in outcome.err


SPEEDS = """
[[expectations]]
low = 1000000
source = "a file"
"""


def test_speeds_that_are_expected_come_from_the_project_and_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.rlprof]\nexpectations = [{low = 3, algorithm = "task"}]\n')
    (tmp_path / "speeds.toml").write_text(SPEEDS)
    script = write_program(tmp_path / "src", TASK, "task.py")
    outcome = run_recorded(script, options=["--expectations", str(tmp_path / "speeds.toml")])
    noted = open_recording(outcome.target).main.facts["expectations"]
    assert [(row["low"], row["algorithm"], row["source"]) for row in noted] == [(1e6, "", "a file"), (3.0, "task", "")]


def test_a_file_of_speeds_that_is_not_there_is_refused_before_the_program_starts(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('started')", "agent.py")
    outcome = run_recorded(script, options=["--expectations", str(tmp_path / "gone.toml")])
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert "gone.toml" in outcome.err
