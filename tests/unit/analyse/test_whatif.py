"""What if a phase were faster."""

from __future__ import annotations

import numpy as np
import pytest

from rlprof.analyse.report import build_report
from rlprof.analyse.whatif import share_spread
from rlprof.model.report import Report, WhatIf
from support.courses import Run, always
from support.recordings import a_recording, span
from support.vector_envs import vector_recording

PARTS = {"env.step": always(5e-4), "policy.forward": always(3e-4), "learn.loss": always(2e-4)}


def entry(report: Report, phase: str, speedup: float | None) -> WhatIf:
    return next(one for one in report.whatif if (one.phase, one.speedup) == (phase, speedup))


def test_the_ratios_are_amdahls_on_the_time_after_start_up() -> None:
    report = build_report(Run(PARTS, noise=0.0, startup=20.0).build().build())
    assert entry(report, "env.step", None).sps_ratio == pytest.approx(2.0)
    assert entry(report, "env.step", 2.0).sps_ratio == pytest.approx(1 / 0.75)
    assert entry(report, "env.step", 1.5).sps_ratio == pytest.approx(1 / (1 - 0.5 / 3))
    assert entry(report, "env.step", 10.0).sps_ratio == pytest.approx(1 / 0.55)


def test_the_largest_phase_comes_first_and_every_one_has_every_speed_up() -> None:
    report = build_report(Run(PARTS).build().build())
    assert [one.phase for one in report.whatif[::4]] == ["env.step", "policy.forward", "learn.loss"]
    assert [one.speedup for one in report.whatif[:4]] == [1.5, 2.0, 10.0, None]


def test_a_share_that_differs_between_windows_has_a_wider_interval() -> None:
    even, uneven = (
        entry(build_report(Run(PARTS, noise=noise).build().build()), "env.step", None) for noise in (0.0, 0.4)
    )
    assert even.low == pytest.approx(even.high)
    assert uneven.low < uneven.sps_ratio < uneven.high
    assert uneven.high - uneven.low > 0.05


def test_the_same_recording_gives_the_same_interval() -> None:
    recording = Run(PARTS, noise=0.3).build().build()
    assert build_report(recording).whatif == build_report(recording).whatif


def test_the_interval_holds_the_true_share_in_about_95_of_100_cases() -> None:
    random = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        share = np.clip(random.normal(0.4, 0.1, 40), 0.01, 0.99)
        low, high = share_spread(share, np.ones(40))
        held += low <= 0.4 / share.mean() <= high
    assert 270 <= held <= 297


def test_with_few_windows_the_interval_says_nothing() -> None:
    report = build_report(Run(PARTS, slices=3).build().build())
    free = entry(report, "env.step", None)
    assert (free.low, free.high) == (1.0, free.sps_ratio)


def test_a_phase_without_weight_is_left_out_and_nothing_is_infinite() -> None:
    report = build_report(a_recording(10.0).spans(span("env.step", self_seconds=9.999)).build())
    assert {one.phase for one in report.whatif} == {"env.step"}
    assert entry(report, "env.step", None).sps_ratio == 100.0
    assert build_report(a_recording(0.0).build()).whatif == ()


def test_a_faster_simulator_in_workers_brings_what_it_takes_of_the_parents_steps() -> None:
    report = build_report(vector_recording())
    assert report.workers is not None
    split = report.workers.vector_envs[0].split
    assert split is not None
    simulated = split.simulator_seconds + split.straggler_seconds
    assert entry(report, "env.step", None).sps_ratio == pytest.approx(10 / (10 - simulated), rel=1e-6)
    assert entry(report, "env.step", 2.0).sps_ratio == pytest.approx(10 / (10 - simulated / 2), rel=1e-6)
    assert entry(report, "env.ipc", None).sps_ratio == pytest.approx(10 / (10 - (4.0 - simulated)), rel=1e-3)


def test_nobody_can_speed_up_waiting_for_workers_by_itself() -> None:
    assert "env.wait" not in {one.phase for one in build_report(vector_recording()).whatif}
