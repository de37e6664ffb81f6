"""The components of a training loop that collects with TorchRL."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rlprof.analyse.breakdown import Breakdown, breakdown_of
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from rlprof.render.breakdown import render_breakdown
from support.recordings import a_recording, span


def a_training_run() -> Recording:
    simulator = span(
        "TimeLimit",
        span("PetriEnv", span(".item() env.py:3", self_seconds=0.5), count=100, self_seconds=0.5),
        count=100,
        self_seconds=1.0,
    )
    step = span(
        "env.step",
        simulator,
        span(".numpy() torchrl/data/tensor_specs.py:892", self_seconds=0.25),
        span("env.reset", phase="env.reset", self_seconds=0.5),
        count=100,
        self_seconds=1.75,
    )
    forward = span("forward", span("gc generation 2", phase="gc", self_seconds=0.5), self_seconds=2.0,
                   phase="policy.forward")  # fmt: skip
    loss = span("loss", span("zero_grad", phase="learn.other", self_seconds=0.5), self_seconds=1.0, phase="learn.loss")
    return (
        a_recording(seconds=20)
        .spans(
            span("collect", step, forward, self_seconds=1.0),
            span("advantage", self_seconds=0.25),
            span("buffer.add", self_seconds=0.25),
            span("buffer.sample", self_seconds=0.5),
            loss,
            span("backward", phase="learn.backward", self_seconds=1.5),
            span("optimizer", phase="learn.optimizer", self_seconds=1.0),
            span("env.reset", self_seconds=0.5),
        )
        .spans(span("collect", self_seconds=3.0), thread="another")
        .build()
    )


def found() -> Breakdown:
    breakdown = breakdown_of(build_report(a_training_run()))
    assert breakdown is not None
    return breakdown


def test_every_component_and_part_has_its_own_time() -> None:
    assert [(part.depth, part.name, part.seconds) for part in found().parts] == [
        (0, "data collection", 8.0),
        (1, "env step", 2.0),
        (1, "policy forward", 2.0),
        (1, "TensorDict operations", 3.0),
        (1, "env reset", 0.5),
        (1, "garbage collection", 0.5),
        (0, "GAE", 0.25),
        (0, "replay buffer", 0.75),
        (0, "training loop", 4.0),
        (1, "loss", 1.0),
        (1, "backward", 1.5),
        (1, "optimizer", 1.0),
        (1, "clip, zero_grad", 0.5),
        (0, "everything else", 0.5),
    ]


def test_components_add_up_to_the_loop_and_with_the_rest_to_the_wall_clock() -> None:
    breakdown = found()
    components = [part for part in breakdown.parts if part.depth == 0]
    assert sum(part.seconds for part in components) == pytest.approx(breakdown.seconds) == 13.5
    assert sum(part.share for part in components) == pytest.approx(1.0)
    assert breakdown.outside_seconds == pytest.approx(20 - 13.5)


def test_the_simulator_bounds_what_a_quicker_one_can_bring() -> None:
    assert found().env_step_gain == pytest.approx(13.5 / 11.5)


def test_without_a_collector_there_is_no_breakdown() -> None:
    recording = a_recording(seconds=5).spans(span("env.step", self_seconds=3.0)).build()
    assert breakdown_of(build_report(recording)) is None


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_is_drawn_with_seconds_shares_and_bars(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_breakdown(found(), Console(file=stream, width=80, color_system=None, legacy_windows=False, _environ={}))
    stream.flush()
    lines = raw.getvalue().decode(encoding).splitlines()
    assert all(len(line) <= 80 for line in lines)
    (row,) = [line.split() for line in lines if "env step  " in line]
    assert row[:7] == ["of", "which", "env", "step", "2.00", "s", "14.8%"]
    assert set(row[7]) <= set("█▉▊▋▌▍▎▏" if encoding == "utf-8" else "#")
    assert any(line.split()[:4] == ["training", "13.5", "s", "100.0%"] for line in lines)
    assert any("1.17x as fast" in line for line in lines)
