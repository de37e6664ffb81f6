"""A callback, a wrapper and a hook record a training run that was started without `rlprof run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import (
    Json,
    assert_ledgers_close,
    calls,
    operations,
    phases,
    read_report,
    run_bare,
    run_recorded,
    write_program,
)

CALLBACK = """
    import sys
    import torch
    from stable_baselines3 import PPO
    from rlprof import get_profiler
    from rlprof.integrations import RlprofCallback

    torch.set_num_threads(1)
    before = PPO.train
    callback = RlprofCallback("own.rlprof", probes="noprobes" not in sys.argv)
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=1)
    model.learn(192, callback=[callback])
    print(callback.recording and callback.recording.name, PPO.train is before)
    model.learn(64)
"""

WRAPPER = """
    import sys
    import gymnasium as gym
    from rlprof import get_profiler
    from rlprof.integrations import ProfiledEnv

    get_profiler().start("own.rlprof", probes="probes" in sys.argv)
    env = ProfiledEnv(gym.make("CartPole-v1"))
    env.reset(seed=1)
    for _ in range(100):
        if env.step(1)[2]:
            env.reset()
    get_profiler().stop()
"""

HOOK = """
    import torch
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.envs import GymEnv
    from torchrl.trainers import Trainer
    from rlprof.integrations import profile_trainer

    class Loss(torch.nn.Module):
        def __init__(self, policy):
            super().__init__()
            self.policy = policy

        def forward(self, batch):
            from tensordict import TensorDict
            value = self.policy(batch.select("observation"))["action"].pow(2).mean()
            return TensorDict({"loss_value": value}, [])

    torch.set_num_threads(1)
    policy = TensorDictModule(torch.nn.Linear(3, 1), in_keys=["observation"], out_keys=["action"])
    collector = Collector(GymEnv("Pendulum-v1"), policy, frames_per_batch=20, total_frames=60)
    optimizer = torch.optim.Adam(policy.parameters())
    trainer = Trainer(
        collector=collector, total_frames=60, frame_skip=1, optim_steps_per_batch=2, loss_module=Loss(policy),
        optimizer=optimizer, progress_bar=False, save_trainer_interval=10**9,
    )
    profile_trainer(trainer, "own.rlprof")
    trainer.train()
"""


def run_on_its_own(folder: Path, program: str, *args: str) -> tuple[str, Json]:
    done = run_bare(write_program(folder, program), *args)
    assert done.code == 0, done.err
    report = read_report(folder / "own.rlprof")
    assert_ledgers_close(report)
    return done.out, report


def test_a_callback_records_the_training_and_takes_its_probes_away(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    out, report = run_on_its_own(tmp_path, CALLBACK)
    assert out.split() == ["own.rlprof", "True"]
    throughput = report["throughput"]
    assert (throughput["env_steps"], throughput["iterations"], throughput["updates"]) == (192, 3, 12)
    assert calls(report, "env.step") == 192
    assert calls(report, "train") == 3


def test_a_callback_without_probes_still_counts(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    _, report = run_on_its_own(tmp_path, CALLBACK, "noprobes")
    assert (report["throughput"]["env_steps"], report["throughput"]["iterations"]) == (192, 3)
    assert phases(report) == {}


def test_a_callback_inside_rlprof_run_leaves_the_recording_to_it(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    done = run_recorded(write_program(tmp_path, CALLBACK))
    assert done.code == 0, done.err
    assert done.out.split() == ["None", "True"]
    assert done.own_lines == ["rlprof: recorded into program.rlprof"]
    assert not (tmp_path / "own.rlprof").exists()
    report = done.report()
    assert calls(report, "train") == 4
    assert report["throughput"]["env_steps"] == 256


@pytest.mark.parametrize("probes", ["probes", "none"])
def test_a_wrapped_environment_is_timed_and_counted_once_with_and_without_probes(tmp_path: Path, probes: str) -> None:
    pytest.importorskip("gymnasium")
    _, report = run_on_its_own(tmp_path, WRAPPER, probes)
    (step,) = operations(report, "env.step")
    assert step["calls"] == report["throughput"]["env_steps"] == 100
    assert report["throughput"]["episodes"] > 0
    assert operations(report, "CartPoleEnv") == [] if probes == "none" else calls(report, "CartPoleEnv") == 100


def test_a_hook_of_torchrls_trainer_records_its_training(tmp_path: Path) -> None:
    pytest.importorskip("torchrl")
    _, report = run_on_its_own(tmp_path, HOOK)
    throughput = report["throughput"]
    assert (throughput["env_steps"], throughput["iterations"], throughput["updates"]) == (60, 3, 6)


def test_importing_the_integrations_imports_no_library(tmp_path: Path) -> None:
    program = write_program(
        tmp_path,
        """
        import sys
        import rlprof.integrations
        print([name for name in ("torch", "numpy", "gymnasium", "stable_baselines3", "torchrl") if name in sys.modules])
        """,
    )
    assert run_bare(program).out == "[]\n"
