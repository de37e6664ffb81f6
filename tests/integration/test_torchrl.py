"""TorchRL programs that know nothing of rlprof: collectors, environments, buffers, advantages and losses are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.installed import need
from support.programs import (
    Json,
    assert_ledgers_close,
    calls,
    operations,
    phase_calls,
    processes,
    run_bare,
    run_recorded,
    write_program,
)

need("gymnasium", "tensordict", "torchrl")

PROGRAMS = Path(__file__).parent / "programs"
BATCHES, FRAMES, EPOCHS, UPDATES = 4, 64, 2, 16  # as in torchrl_ppo.py


def record(folder: Path, program: str, *args: str, bare: bool = False) -> Json:
    script = write_program(folder, (PROGRAMS / program).read_text(encoding="utf-8"))
    recorded = run_recorded(script, *args)
    assert recorded.code == 0, recorded.err
    if bare:
        assert run_bare(script, *args).out.splitlines()[-1] == recorded.out.splitlines()[-1]
    report = recorded.report()
    assert_ledgers_close(report)
    return report


@pytest.fixture(scope="module")
def ppo(tmp_path_factory: pytest.TempPathFactory) -> Json:
    return record(tmp_path_factory.mktemp("ppo"), "torchrl_ppo.py", "single", bare=True)


def test_ppo_is_told_apart_into_its_phases(ppo: Json) -> None:
    found = phase_calls(ppo)
    assert found["env.step"] == BATCHES * FRAMES
    assert found["advantage"] == found["buffer.add"] == BATCHES * EPOCHS
    assert found["buffer.sample"] == found["learn.loss"] == found["learn.backward"] == UPDATES
    assert found["weights.sync"] == BATCHES
    # The collector asks the policy once more, to see what it answers.
    assert found["policy.forward"] == BATCHES * FRAMES + 1


def test_ppo_steps_updates_and_iterations_are_counted(ppo: Json) -> None:
    throughput = ppo["throughput"]
    assert throughput["env_steps"] == BATCHES * FRAMES  # and not once more for the gymnasium environment inside
    assert throughput["updates"] == UPDATES
    assert throughput["iterations"] == BATCHES - 1
    assert throughput["episodes"] >= BATCHES * FRAMES / 20 - 1


def test_what_a_collector_does_is_below_it(ppo: Json) -> None:
    assert calls(ppo, "collect") == BATCHES + 1  # the last one finds that there is nothing left
    steps = operations(ppo, "env.step")
    assert [operation["path"] for operation in steps] == [["collect", "env.step"]]
    assert ["collect", "env.step", "env.reset"] in [operation["path"] for operation in operations(ppo, "env.reset")]


CHECKED = """
import warnings
import torch
from torchrl.envs import Compose, GymEnv, ObservationNorm, StepCounter, TransformedEnv
from torchrl.envs.utils import check_env_specs

warnings.simplefilter("ignore")
torch.manual_seed(1)
env = TransformedEnv(GymEnv("Pendulum-v1"), Compose(ObservationNorm(in_keys=["observation"]), StepCounter()))
env.set_seed(1)
env.transform[0].init_stats(num_iter=50, reduce_dim=0, cat_dim=0)
check_env_specs(env)
print(env.rollout(20)["next", "reward"].sum())
"""


def test_steps_that_check_an_environment_or_measure_its_observations_are_not_the_runs(tmp_path: Path) -> None:
    script = write_program(tmp_path, CHECKED)
    recorded = run_recorded(script)
    assert recorded.code == 0, recorded.err
    report = recorded.report()
    assert report["throughput"]["env_steps"] == 20
    assert phase_calls(report)["env.step"] > 70
    assert (calls(report, "observation statistics"), calls(report, "check environment")) == (1, 1)
    assert run_bare(script).out.splitlines()[-1] == recorded.out.splitlines()[-1]


def test_dqn_with_a_buffer_a_target_network_and_a_logger(tmp_path: Path) -> None:
    report = record(tmp_path, "torchrl_dqn.py")
    found = phase_calls(report)
    assert found["env.step"] == 160 + 10 + 7
    assert report["throughput"]["env_steps"] == 160 + 3 + 7  # and not those without exploration, which evaluate
    assert (found["buffer.add"], calls(report, "buffer.sample"), calls(report, "buffer.priorities")) == (10, 21, 20)
    assert found["learn.loss"] == 21  # one of them without gradients
    assert (calls(report, "target"), calls(report, "log")) == (20, 10)
    assert (calls(report, "rollout"), calls(report, "evaluate")) == (1, 1)
    assert report["throughput"]["iterations"] == 9


@pytest.mark.slow
def test_environments_in_workers_are_split_into_copying_and_waiting(tmp_path: Path) -> None:
    report = record(tmp_path, "torchrl_ppo.py", "parallel")
    found = phase_calls(report)
    steps = BATCHES * FRAMES // 2
    assert found["env.step"] == found["env.ipc"] == steps
    assert found["env.wait"] >= steps
    assert report["throughput"]["env_steps"] == BATCHES * FRAMES
    workers = processes(report, "spawn")
    assert [phase_calls(worker)["env.step"] for worker in workers] == [steps, steps]
    assert calls(report, "start workers") == 1
    assert all("env.reset" not in operation["path"] for operation in operations(report, "start workers"))


@pytest.mark.slow
def test_a_collector_with_workers_is_waited_for_and_its_frames_are_counted(tmp_path: Path) -> None:
    report = record(tmp_path, "torchrl_ppo.py", "multi")
    found = phase_calls(report)
    assert found["env.wait"] == calls(report, "collect") - 2 * BATCHES == BATCHES + 1
    assert "env.step" not in found
    assert report["throughput"]["env_steps"] == BATCHES * FRAMES
    assert report["throughput"]["iterations"] == BATCHES - 1
    for worker in processes(report, "spawn"):
        inside = phase_calls(worker)
        assert inside["env.step"] == BATCHES * FRAMES // 2
        assert inside["policy.forward"] >= BATCHES * FRAMES // 2
