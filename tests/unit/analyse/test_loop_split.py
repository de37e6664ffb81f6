"""Sampling against training, and what a transition costs in each part of the loop."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from rlprof.analyse.loop_split import LoopSplit, loop_split
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from rlprof.model.units import format_ratio
from rlprof.render.loop_split import render_loop_splits
from support.recordings import a_recording, span
from support.vector_envs import vector_recording


def one_environment() -> Recording:
    simulator = span(
        "Game",
        span("Game.reward", self_seconds=0.5, count=1000),
        span("gc generation 2", phase="gc", self_seconds=1.0),
        count=1000,
        self_seconds=4.0,
    )
    step = span(
        "env.step", simulator, span("env.reset", phase="env.reset", self_seconds=0.5), phase="env.step", count=1000,
        self_seconds=1.0,
    )  # fmt: skip
    acting = span("forward", phase="policy.forward", count=1000, self_seconds=2.0)
    storing = span("buffer.add", span("tensor[i] = a.py:3", self_seconds=0.25), phase="buffer.add", self_seconds=0.75)
    loss = span("loss", span("forward", phase="learn.loss", self_seconds=0.5), phase="learn.loss", self_seconds=0.5)
    return (
        a_recording(seconds=20)
        .counter("env_steps", 1000)
        .counter("episodes", 10)
        .spans(
            span("env.reset", phase="env.reset", self_seconds=0.25),
            span("collecting", step, acting, storing, span(".numpy() a.py:9", self_seconds=0.125), self_seconds=0.375),
            span("learning", loss, phase="learn.other", self_seconds=3.0, open_calls=1),
            span("buffer.sample", phase="buffer.sample", self_seconds=0.25),
            span("advantage", span("forward", phase="policy.forward", self_seconds=0.25), phase="advantage",
                 self_seconds=0.5),
        )
        .spans(span("forward", phase="policy.forward", self_seconds=9.0), thread="another")
        .build()
    )  # fmt: skip


def split_of(recording: Recording) -> LoopSplit:
    split = loop_split(build_report(recording), "Game", "Game.reward")
    assert split is not None
    return split


def test_each_part_has_the_time_of_what_happened_in_it() -> None:
    split = split_of(one_environment())
    assert split.parts == {
        "action selection": 2.0,
        "environment step": 7.0,  # with the reset and the garbage collection inside of it
        "buffer storage": 1.0,
        "rest of the loop": 0.5,
        "training": 2.0,  # without the learning that was inferred to go on until the end
    }
    assert split.simulator_seconds == 5.5
    assert split.reward_seconds == 0.5
    assert (split.envs, split.transitions, split.episodes) == (1, 1000, 10)


def test_sampling_training_and_what_is_outside_add_up_to_the_wall_clock() -> None:
    split = split_of(one_environment())
    assert split.sampling_seconds == 10.5
    assert split.ratio == 5.25
    assert split.rate == pytest.approx(80)
    assert split.loop_seconds + split.outside_seconds == pytest.approx(20)


def test_unattributed_time_after_the_start_is_the_loops() -> None:
    report = build_report(one_environment())
    loop = split_of(one_environment())
    ledger = replace(report.ledger, startup_seconds=report.ledger.unattributed_seconds - 1.5)
    split = loop_split(replace(report, ledger=ledger), "Game", "Game.reward")
    assert split is not None
    assert split.parts["rest of the loop"] == pytest.approx(loop.parts["rest of the loop"] + 1.5)


def test_without_a_step_there_is_nothing_to_split() -> None:
    report = build_report(a_recording(seconds=2).spans(span("forward", self_seconds=1.0)).build())
    assert loop_split(report, "Game", "Game.reward") is None


def test_workers_say_what_simulators_took() -> None:
    split = split_of(vector_recording())
    assert split.workers is not None
    assert split.envs == 2
    assert split.simulator_seconds == pytest.approx(sum(each.simulator_seconds for each in split.workers.members))


def drawn(*splits: LoopSplit) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    render_loop_splits(splits, 2, None, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def row(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.strip().startswith(name + "  ")]
    return line.split()


def test_forms_stand_side_by_side() -> None:
    alone, many = split_of(one_environment()), split_of(vector_recording())
    text = drawn(alone, many)
    assert "1 env  2 envs, 2 processes" in text
    assert row(text, "transitions per second")[-2] == "80.0"
    assert row(text, "sampling : training")[3:6] == ["5.25", ":", "1"]
    assert row(text, "environment step")[2:6] == ["7.00", "ms", "700", "ms"]
    assert row(text, "of which reward")[3:5] == ["500", "µs"]
    assert row(text, "slowest worker")[2:4] == ["-", "-"]
    assert f"2 envs, 2 processes: {format_ratio(many.rate / alone.rate)} the transitions per second of 1 env" in text
    assert "a step of all takes 3.99 ms; in it, a worker waits 20.0 µs for a core" in text
    assert "2 cores that only simulate, 5.50 ms each: at most 364 transitions per second" in text


def test_a_device_is_named_with_how_busy_it_was() -> None:
    alone = replace(split_of(one_environment()), device_busy_share=0.25)
    console = Console(file=io.StringIO(), width=100, color_system=None)
    render_loop_splits([alone, split_of(one_environment())], 2, "NVIDIA T4", console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert row(text, "device")[1:] == ["NVIDIA", "T4", "NVIDIA", "T4"]
    assert row(text, "device busy")[2:] == ["25.0%", "-"]
    assert "device busy" not in drawn(alone)


def test_one_form_alone_has_no_column_of_workers() -> None:
    text = drawn(split_of(one_environment()))
    assert "inter-process" not in text
    assert "transitions per second of" not in text
