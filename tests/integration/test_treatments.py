"""Treatments take effect in real programs, leave results as they are where they say so, and never break anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlprof.cli.main import main
from rlprof.model.errors import BadOption
from rlprof.recording import open_recording
from rlprof.treat.bootstrap import read_variable
from rlprof.treat.registry import KINDS, parse_treatment
from support.installed import need
from support.programs import Outcome, run_bare, run_recorded, warning_codes, write_program

need("torch", "gymnasium")


def treated(script: Path, *texts: str, options: tuple[str, ...] = (), **env: str) -> Outcome:
    words = [word for text in texts for word in ("--treat", text)]
    return run_recorded(script, options=(*words, "--overwrite", *options), **env)


def standing(outcome: Outcome) -> dict[str, bool]:
    return {entry["text"]: entry["applied"] for entry in outcome.report()["run"]["treatments"]}


def why_not(outcome: Outcome, text: str) -> str:
    (entry,) = [entry for entry in outcome.report()["run"]["treatments"] if entry["text"] == text]
    assert not entry["applied"]
    return str(entry["why"])


# --- torch ------------------------------------------------------------------------------------------------------------

#: A2C as a single file has it: a module with methods of its own, a target network, a loss that keeps the actions.
TRAINING = """
    import gc, json, os, sys
    import gymnasium as gym
    import torch
    from torch import nn

    torch.manual_seed(1)
    seen = {"acting": [], "target": [], "learning": []}

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
            self.doing = "acting"

        def get_action_and_value(self, x, action=None):
            seen[self.doing].append(torch.is_inference_mode_enabled())
            dist = torch.distributions.Categorical(logits=self.actor(x))
            if action is None:
                action = dist.sample()
            return action, dist.log_prob(action), self.critic(x)

    agent, target = Agent(), nn.Linear(4, 1)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    torch.set_num_threads(2)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 8)
    observations, _ = envs.reset(seed=1)
    drawn = []
    for _ in range(6):
        x = torch.as_tensor(observations)
        agent.doing = "acting"
        with torch.no_grad():
            action, log_prob, value = agent.get_action_and_value(x)
        drawn.append(action.tolist())
        observations, *_ = envs.step(action.numpy())
        agent.doing = "learning"
        _, new, guess = agent.get_action_and_value(x, action)
        with torch.no_grad():
            goal = target(x)
        loss = ((new - log_prob).exp() * value.squeeze()).mean() + (guess * value).mean() + (guess - goal).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    import cloudpickle, hashlib
    cloudpickle.loads(cloudpickle.dumps(agent))  # as to a worker
    learned = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in agent.parameters()))
    print(json.dumps({
        "drawn": drawn,
        "fingerprint": learned.hexdigest(),
        "weights": sum(p.double().sum().item() for p in agent.parameters()),
        "seen": {name: sorted(set(values)) for name, values in seen.items()},
        "threads": torch.get_num_threads(),
        "variable": os.environ.get("OMP_NUM_THREADS"),
        "validates": torch.distributions.Categorical(logits=torch.zeros(2))._validate_args,
        "gc": list(gc.get_threshold()),
        "frozen": gc.get_freeze_count() > 0,
        "denormal": (torch.tensor([1e-39]) * 1.0).item() > 0,
        "precision": torch.get_float32_matmul_precision(),
        "fused": optimizer.defaults["fused"],
        "foreach": optimizer.defaults["foreach"],
        "cores": len(os.sched_getaffinity(0)),
    }))
"""

HARMLESS = (
    "fingerprint",
    "threads=1",
    "inference-mode",
    "no-validate",
    "gc-freeze",
    f"affinity={min(os.sched_getaffinity(0))}",
)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_program(tmp_path_factory.mktemp("training"), TRAINING)


@pytest.fixture(scope="module")
def bare(training: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(run_bare(training).out)
    return found


def test_harmless_treatments_take_effect_and_what_is_learned_is_the_same(
    training: Path, bare: dict[str, object]
) -> None:
    done = treated(training, *HARMLESS)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert standing(done) == dict.fromkeys(HARMLESS, True)
    assert found["drawn"] == bare["drawn"]
    assert found["weights"] == bare["weights"]
    assert found["seen"] == {"acting": [True], "target": [], "learning": [False]}
    assert bare["seen"] == {"acting": [False], "target": [], "learning": [False]}
    assert (found["threads"], found["variable"]) == (1, "1")
    assert (bare["validates"], found["validates"]) == (True, False)
    assert found["gc"] == [50_000, 20, 50]
    assert (bare["frozen"], found["frozen"]) == (False, True)
    assert found["cores"] == 1
    assert (
        open_recording(done.target).main.facts["fingerprint"]["weights"] == found["fingerprint"] == bare["fingerprint"]
    )


def test_treatments_that_change_results_take_effect(training: Path, bare: dict[str, object]) -> None:
    texts = ("flush-denormal", "matmul-precision=high", "optimizer=fused")
    done = treated(training, *texts)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert standing(done) == dict.fromkeys(texts, True)
    assert (bare["denormal"], found["denormal"]) == (True, False)
    assert (bare["precision"], found["precision"]) == ("highest", "high")
    assert (bare["fused"], found["fused"]) == (None, True)


def test_the_report_says_that_this_is_not_the_bare_program(training: Path) -> None:
    done = treated(training, "optimizer=foreach", "serial-vecenv")
    assert json.loads(done.out)["foreach"] is True
    text = CliRunner().invoke(main, ["report", str(done.target)]).output
    assert "run with treatments: optimizer=foreach (this is not the bare program)" in text.replace("\n", "")
    assert "treatment-not-applied" in warning_codes(done.report())
    markdown = CliRunner().invoke(main, ["report", str(done.target), "--markdown", "-"]).output
    assert "run with treatments: optimizer=foreach" in markdown


@pytest.mark.slow
def test_the_acting_module_is_compiled(training: Path, bare: dict[str, object]) -> None:
    done = treated(training, "compile-acting")
    assert done.code == 0, done.err
    assert standing(done) == {"compile-acting": True}
    found = json.loads(done.out)
    assert len(found["drawn"]) == 6


def test_an_agent_that_cannot_be_compiled_or_keeps_its_tensors_acts_as_before(tmp_path: Path) -> None:
    need("tensordict")
    program = write_program(
        tmp_path,
        """
        import torch
        from tensordict import TensorDict
        from tensordict.nn import TensorDictModule

        def no_compiler(*args, **kwargs):
            raise RuntimeError("no compiler here")
        torch.compile = lambda module: no_compiler

        net = TensorDictModule(torch.nn.Linear(2, 1), in_keys=["obs"], out_keys=["action"])
        kept = TensorDict({"obs": torch.zeros(3, 2)}, [3])
        with torch.no_grad():
            for _ in range(2):
                net(kept)
        print(kept["action"].shape, kept["action"].is_inference())
        """,
    )
    done = treated(program, "compile-acting", "inference-mode")
    assert done.out == "torch.Size([3, 1]) False\n"
    assert why_not(done, "compile-acting") == "torch cannot compile TensorDictModule: RuntimeError"
    assert "TensorDict" in why_not(done, "inference-mode")


def test_an_optimizer_that_cannot_be_fused_steps_as_before(tmp_path: Path) -> None:
    program = write_program(tmp_path, """
        import torch
        weights = torch.nn.Parameter(torch.zeros(2))
        for choice in ({"differentiable": True}, {"fused": False}):
            optimizer = torch.optim.Adam((w for w in [weights]), **choice)
            print(optimizer.defaults["fused"], len(optimizer.param_groups[0]["params"]))
    """)  # fmt: skip
    done = treated(program, "optimizer=fused")
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["None 1", "False 1"]
    assert "Adam cannot be fused here" in why_not(done, "optimizer=fused")


# --- vector environments ----------------------------------------------------------------------------------------------

VECTORS = """
    import gymnasium as gym
    from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
    import multiprocessing, sys

    def main():
        make = [lambda: gym.make("CartPole-v1") for _ in range(2)]
        total = 0.0
        for cls in (SyncVectorEnv, AsyncVectorEnv):
            envs = cls(make)
            observation, _ = envs.reset(seed=7)
            total += float(observation.sum())
            for _ in range(30):
                observation, *_ = envs.step([0, 1])
                total += float(observation.sum())
            print(type(envs).__name__)
            envs.close()
        print(total)
        print(SyncVectorEnv(make[:1]).__class__.__name__)
        print(multiprocessing.get_start_method(), multiprocessing.get_context("spawn").get_start_method())

    if __name__ == "__main__":
        main()
"""


def test_environments_move_between_this_process_and_workers(tmp_path: Path) -> None:
    script = write_program(tmp_path, VECTORS)
    plain = run_bare(script).out.split()
    assert plain[:2] == ["SyncVectorEnv", "AsyncVectorEnv"]
    for text, kind in (("serial-vecenv", "SyncVectorEnv"), ("subproc-vecenv", "AsyncVectorEnv")):
        done = treated(script, text)
        assert done.code == 0, done.err
        assert done.out.split() == [kind, kind, *plain[2:]]
        assert standing(done) == {text: True}


def test_workers_start_the_way_that_was_asked_for(tmp_path: Path) -> None:
    done = treated(write_program(tmp_path, VECTORS), "start-method=spawn", "threads=1")
    assert done.code == 0, done.err
    assert done.out.split()[-2:] == ["spawn", "spawn"]
    assert standing(done)["start-method=spawn"]
    workers = [process for process in done.report()["run"]["processes"] if process["role"] == "spawn"]
    assert len(workers) == 2


@pytest.mark.slow
def test_sb3_trains_the_same_on_environments_in_this_process(tmp_path: Path) -> None:
    need("stable_baselines3")
    script = write_program(tmp_path, """
        import gymnasium as gym
        from stable_baselines3 import PPO
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import SubprocVecEnv

        if __name__ == "__main__":
            kwargs = {"vec_env_cls": SubprocVecEnv, "vec_env_kwargs": {"start_method": "fork"}}
            env = make_vec_env("CartPole-v1", 2, seed=1, **kwargs)
            model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=1, device="cpu").learn(256)
            print(type(env).__name__, sum(p.double().sum().item() for p in model.policy.parameters()))
            env.close()
    """)  # fmt: skip
    texts = ("serial-vecenv", "inference-mode", "no-validate", "gc-freeze")
    plain, done = run_bare(script), treated(script, *texts)
    assert done.code == 0, done.err
    assert plain.out.split()[0] == "SubprocVecEnv"
    assert done.out.split() == ["DummyVecEnv", plain.out.split()[1]]
    assert standing(done) == dict.fromkeys(texts, True)


# --- functions by name ------------------------------------------------------------------------------------------------

NAMED = """
    import multiprocessing, time
    import simulator

    class Env:
        def step(self, action):
            return self.observe(), self.reward(action)
        def observe(self):
            return [1, 2]
        def reward(self, action):
            return 1.0
        @staticmethod
        def render():
            return "drawn"

    def work(_):
        return Env().step(0), simulator.simulate(2)

    if __name__ == "__main__":
        print(work(None), Env.render())
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(work, [None])[0])
"""


def test_functions_are_skipped_and_replaced_in_all_processes(tmp_path: Path) -> None:
    write_program(tmp_path, "def simulate(n):\n    return n\ndef double(n):\n    return 2 * n\n", "simulator.py")
    write_program(tmp_path, "def reward(env, action):\n    return 10.0\n", "better.py")
    texts = ("skip:program:Env.observe=[0]", "skip:__main__:Env.render", "replace:program:Env.reward=better:reward")
    done = treated(write_program(tmp_path, NAMED), *texts, "replace:simulator:simulate=simulator:double")
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["(([0], 10.0), 4) None", "(([0], 10.0), 4)"]
    assert set(standing(done).values()) == {True}


def test_a_replacement_that_is_not_there_leaves_the_original(tmp_path: Path) -> None:
    write_program(tmp_path, "def simulate(n):\n    return n\n", "simulator.py")
    done = treated(write_program(tmp_path, NAMED), "replace:simulator:simulate=nowhere:f", "skip:program:Env.nothing")
    assert done.out.splitlines()[0] == "(([1, 2], 1.0), 2) drawn"
    assert "nowhere:f cannot be had" in why_not(done, "replace:simulator:simulate=nowhere:f")
    assert "nothing in the program is called program:Env.nothing" in why_not(done, "skip:program:Env.nothing")


def test_logging_is_left_out(tmp_path: Path) -> None:
    script = write_program(tmp_path, """
        import logging
        logging.basicConfig(level=logging.INFO)
        logging.info("hello")
        logging.getLogger("mine").warning("careful")
        print("done")
    """)  # fmt: skip
    assert "hello" in run_bare(script).err
    done = treated(script, "mute-logging")
    assert (done.out, done.own_lines[:-1]) == ("done\n", [])
    assert "hello" not in done.err
    assert "careful" not in done.err
    assert standing(done) == {"mute-logging": True}


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_program_without_the_libraries_runs_as_it_is_and_the_recording_says_why(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('plain')")
    texts = ("inference-mode", "serial-vecenv", "affinity=9999", "threads=2")
    done = treated(script, *texts)
    assert (done.code, done.out) == (0, "plain\n")
    assert standing(done) == dict.fromkeys(texts, False)
    assert why_not(done, "inference-mode") == "the program imports no torch"
    assert why_not(done, "affinity=9999") == "this process may not use core 9999"
    said = [w["message"] for w in done.report()["warnings"] if w["code"] == "treatment-not-applied"]
    assert len(said) == len(texts)


def test_an_unknown_version_of_a_library_costs_the_treatment_and_not_the_program(tmp_path: Path) -> None:
    write_program(tmp_path, "class Tensor: pass\n", "torch.py")
    done = treated(
        write_program(tmp_path, "import torch\nprint(torch.Tensor)"), "inference-mode", options=("--no-probes",)
    )
    assert (done.code, done.out) == (0, "<class 'torch.Tensor'>\n")
    assert "it is not understood here" in why_not(done, "inference-mode")


def test_treatments_of_the_environment_count_too(tmp_path: Path) -> None:
    done = treated(
        write_program(tmp_path, "import os; print(os.environ['OMP_NUM_THREADS'])"),
        "mute-logging", RLPROF_TREATMENTS='["threads=3"]',
    )  # fmt: skip
    assert done.out == "3\n"
    assert list(standing(done)) == ["threads=3", "mute-logging"]


@pytest.mark.parametrize(
    "text",
    ["threads", "threads=0", "threads=x", "no-validate=1", "nonsense", "skip:", "skip:a:b={", "replace:a:b",
     "affinity=a", "optimizer=fast", "start-method=", "skip=1", "matmul-precision=low"],
)  # fmt: skip
def test_what_is_no_treatment_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        parse_treatment(text)


def test_a_wrong_treatment_ends_the_command_before_the_program_runs(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('ran')")
    done = treated(script, "threads=none")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rlprof: the treatment threads takes a number")
    assert run_recorded(script, RLPROF_TREATMENTS="{}").code == 2
    with pytest.raises(BadOption):
        read_variable("[1]")


def test_every_treatment_says_what_it_does_and_how_to_keep_it() -> None:
    arguments = {"threads": "=2", "affinity": "=0", "optimizer": "=fused", "start-method": "=fork"}
    arguments |= {"matmul-precision": "=high", "skip": ":a:b", "replace": ":a:b=c:d"}
    for kind in KINDS.values():
        treatment = parse_treatment(kind.id + arguments.get(kind.id, ""))
        assert kind.summary
        assert treatment.permanent
        compile(treatment.permanent, kind.id, "exec")


def test_the_page_lists_every_treatment() -> None:
    page = (Path(__file__).parents[2] / "docs" / "treatments.md").read_text(encoding="utf-8").replace("\\|", "|")
    for kind in KINDS.values():
        changes = "for diagnosis only" if kind.diagnosis_only else "yes" if kind.changes_results else ""
        assert f"| `{kind.form}` | {kind.summary} | {changes + ' ' if changes else ''}|" in page
