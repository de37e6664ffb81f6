"""Training the network's defender: repeatable, and the same wherever the environments run."""

from __future__ import annotations

import pytest

from support.installed import need

need("gymnasium", "torch")

import torch  # noqa: E402

from rlprof.demos import cyber  # noqa: E402


def train(*words: str) -> cyber.Training:
    knobs = ["--envs", "2", "--episodes", "4", "--batch", "100", "--minibatch", "50", "--hidden", "16", *words]
    before = torch.get_num_threads()
    try:
        return cyber.train(cyber.parse(knobs))
    finally:
        torch.set_num_threads(before)


@pytest.fixture(scope="module")
def serial() -> cyber.Training:
    return train()


def test_episodes_and_gradient_steps_are_as_many_as_asked_for(serial: cyber.Training) -> None:
    assert serial.steps == 400
    assert len(serial.returns) == 4
    assert serial.updates == 4 * 4 * 2


def test_a_seed_makes_a_run_repeatable(serial: cyber.Training) -> None:
    assert train() == serial
    assert train("--seed", "1").returns != serial.returns


@pytest.mark.parametrize("words", [["--simulator", "numpy"], ["--backend", "subproc"], ["--backend", "async"]])
def test_where_the_environments_run_changes_no_return(serial: cyber.Training, words: list[str]) -> None:
    assert train(*words) == serial


def test_steps_may_be_asked_for_instead_of_episodes() -> None:
    assert train("--steps", "150").steps == 200  # whole batches


def test_advantages_do_not_look_beyond_the_end_of_an_episode() -> None:
    rollout = cyber.Rollout(steps=3, envs=1, bits=1)
    nothing = torch.zeros(1)
    for reward, end in ((0.0, False), (10.0, True), (20.0, False)):
        rollout.add(torch.zeros(1, 1), nothing.long(), nothing, nothing, torch.tensor([reward]).numpy(),
                    torch.tensor([end]).numpy())  # fmt: skip
    rollout.compute_gae(torch.tensor([1.0]))
    scaled, decay = cyber.SCALE * 10.0, cyber.GAMMA * cyber.LAMBDA
    wanted = torch.tensor([[decay * scaled], [scaled], [2 * scaled + cyber.GAMMA]])
    assert torch.allclose(rollout.advantages, wanted)
