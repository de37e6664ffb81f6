"""Regimes: labels, moments and causes."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from rlprof.analyse.report import build_report
from rlprof.model.report import Regime
from support.courses import Run, always, jump, rising
from support.examples import ppo_recording
from support.recordings import a_recording, span

STEADY = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}


def regimes(run: Run) -> tuple[Regime, ...]:
    return build_report(run.build().build()).regimes


def labels(run: Run) -> list[str]:
    return [regime.label for regime in regimes(run)]


def test_a_steady_run_is_start_up_and_one_steady_regime() -> None:
    start, steady = regimes(Run(STEADY))
    assert (start.label, start.start_s, start.end_s, start.sps) == ("start-up", 0.0, pytest.approx(2.0), 0.0)
    assert (steady.label, steady.end_s, steady.cause) == ("steady", pytest.approx(22.0), None)
    assert steady.sps == pytest.approx(1250, rel=0.05)


def test_regimes_follow_each_other_without_a_gap() -> None:
    found = regimes(Run({**STEADY, "env.step": jump(1e-4, 2e-3, 10_000)}))
    assert len(found) == 3
    assert all(after.start_s == pytest.approx(before.end_s) for before, after in pairwise(found))


def test_before_the_first_update_a_run_warms_up() -> None:
    run = Run(STEADY, often={"learn.loss": jump(0.0, 4.0, 12_000)}, updates=jump(0.0, 1.0, 12_000))
    _, before, after = regimes(run)
    assert (before.label, after.label) == ("warm-up", "steady")
    assert after.cause == "the first update: learning began"
    assert before.sps > 2 * after.sps


def test_a_part_that_gets_slower_degrades_the_run() -> None:
    _, before, after = regimes(Run({**STEADY, "env.step": jump(1e-4, 8e-4, 10_000)}, noise=0.0))
    assert (before.label, after.label) == ("steady", "degraded")
    assert after.cause is not None
    assert re.fullmatch(r"env\.step 8\.0\d times as long per call", after.cause)


def test_a_growing_part_is_the_cause_of_what_is_degraded() -> None:
    found = regimes(Run({**STEADY, "buffer.sample": rising(1e-5, 3e-7)}, slices=80))
    assert found[-1].label == "degraded"
    assert all(regime.cause is not None and "buffer.sample" in regime.cause for regime in found[2:])


def test_where_everything_gets_slower_alike_it_is_the_machine() -> None:
    *_, after = regimes(Run(STEADY, machine=lambda at: 1.0 if at < 12 else 1.8))
    assert after.label == "degraded"
    assert after.cause is not None
    assert "the machine" in after.cause


def test_more_calls_per_step_are_told_from_longer_ones() -> None:
    *_, after = regimes(Run(STEADY, often={"learn.loss": jump(1.0, 5.0, 10_000)}, updates=always(1.0)))
    assert after.cause == "learn.loss 5.00 times as often per env step"


def test_evaluations_that_come_in_are_named() -> None:
    *_, after = regimes(Run({**STEADY, "evaluate": jump(0.0, 1e-3, 10_000)}))
    assert after.cause == "evaluation"


def test_a_slow_beginning_is_a_warm_up() -> None:
    assert labels(Run({**STEADY, "policy.forward": jump(4e-3, 3e-4, 600)}, slices=60)) == [
        "start-up",
        "warm-up",
        "steady",
    ]


def test_few_windows_are_one_steady_regime() -> None:
    assert labels(Run({**STEADY, "env.step": jump(1e-4, 5e-3, 1000)}, slices=8)) == ["start-up", "steady"]


def test_noise_makes_no_regimes() -> None:
    more = sum(len(regimes(Run(STEADY, noise=0.2, seed=seed, slices=60))) > 2 for seed in range(60))
    assert more <= 3


def test_a_run_that_wanders_like_a_busy_machine_is_never_blamed_on_a_part() -> None:
    blamed = 0
    for seed in range(40):
        load = np.exp(np.cumsum(np.random.default_rng(seed).normal(0.0, 0.15, 200)))
        found = regimes(Run(STEADY, machine=lambda at, load=load: float(load[int(at / 0.5)]), noise=0.1, seed=seed))
        blamed += any(regime.cause is not None and "machine" not in regime.cause for regime in found)
    assert blamed <= 2


def test_without_env_steps_there_are_no_regimes() -> None:
    assert build_report(a_recording().spans(span("env.step", self_seconds=5.0)).build()).regimes == ()


def test_a_recording_of_a_single_slice_of_training_is_steady() -> None:
    start, steady = build_report(ppo_recording()).regimes
    assert (start.label, start.end_s) == ("start-up", pytest.approx(2.0, abs=0.1))
    assert (steady.label, steady.end_s) == ("steady", pytest.approx(62.0))
    assert steady.sps == pytest.approx(40 * 2048 / 60, rel=0.01)
