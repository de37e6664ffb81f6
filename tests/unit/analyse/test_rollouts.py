"""Rollouts that a program has marked: the mean one, between two moments of a run, and how fast each phase is."""

from __future__ import annotations

import pytest

from rlprof.analyse.expectations import compare_speeds
from rlprof.analyse.report import build_report
from rlprof.analyse.rollouts import PhaseTotals, RolloutTree, count_rollouts, mean_rollouts, phase_totals
from rlprof.model.expectations import Expectation
from rlprof.model.recording import Recording
from rlprof.render.rollouts import rollout_lines, speed_lines
from support.recordings import SECOND, SpanSpec, a_recording, span


def supervised(rollouts: int) -> SpanSpec:
    """Rollouts of 2 s, one half of it the teacher's; as much again of an update. 8 steps of 2 environments in each."""
    label = span(
        "program:ask_teacher",
        span("agent calls", count=rollouts * 8, self_seconds=rollouts * 0.75),
        span("device to host", span(".cpu() program.py:3", self_seconds=rollouts * 0.125), self_seconds=0.0),
        self_seconds=rollouts * 0.125,
    )
    return span(
        "supervised",
        span(
            "rollout",
            span("student forward", span("forward", self_seconds=rollouts * 0.25), self_seconds=rollouts * 0.25),
            span("teacher", label, count=rollouts * 8, self_seconds=0.0),
            span("env step", span("env.step", count=rollouts * 8, self_seconds=rollouts * 0.25), self_seconds=0.0),
            count=rollouts,
            self_seconds=rollouts * 0.25,
        ),
        span("update", count=rollouts, self_seconds=rollouts * 2.0),
        count=rollouts,
    )


def ppo(rollouts: int) -> SpanSpec:
    step = span("env step", span("env.step", count=rollouts * 8, self_seconds=rollouts * 0.5), self_seconds=0.0)
    return span("ppo", span("rollout", step, count=rollouts, self_seconds=0.0), count=rollouts)


def recorded(*phases: SpanSpec, steps: int) -> Recording:
    return a_recording(seconds=100).spans(*phases).counter("env_steps", steps).build()


def totals(recording: Recording) -> dict[str, PhaseTotals]:
    return phase_totals(build_report(recording), recording)


def rows(tree: RolloutTree) -> list[tuple[str, int, float]]:
    return [(part.name, part.depth, round(part.seconds, 6)) for part in tree.parts]


def test_the_mean_rollout_of_each_phase_in_the_order_in_which_they_began() -> None:
    recording = recorded(supervised(4), ppo(2), steps=16 * 6)
    assert count_rollouts(recording) == 6
    first, second = mean_rollouts(totals(recording))
    assert (first.phase, first.first, first.last, first.seconds) == ("supervised", 1, 4, 2.0)
    assert rows(first) == [
        ("student forward", 0, 0.5),
        ("teacher", 0, 1.0),
        ("device to host", 1, 0.125),
        ("agent calls", 1, 0.75),
        ("env step", 0, 0.25),
        ("everything else", 0, 0.25),
    ]
    assert (second.phase, second.last, rows(second)) == ("ppo", 2, [("env step", 0, 0.5), ("everything else", 0, 0.0)])
    assert first.sps == pytest.approx(16 / 4.0)  # the update counts
    assert second.sps == pytest.approx(16 / 0.5)


def test_between_two_moments_only_what_was_new_counts() -> None:
    before = totals(recorded(supervised(4), steps=16 * 4))
    now = totals(recorded(supervised(4), ppo(3), steps=16 * 7))
    (tree,) = mean_rollouts(now, before)
    assert (tree.phase, tree.first, tree.last) == ("ppo", 1, 3)
    (later,) = mean_rollouts(totals(recorded(supervised(6), steps=16 * 6)), before)
    assert (later.first, later.last, later.seconds) == (5, 6, pytest.approx(2.0))


def test_a_rollout_that_goes_on_is_none_yet() -> None:
    builder = a_recording(seconds=100).spans(supervised(4)).counter("env_steps", 64)
    recording = builder.with_stats("rollout", open_since_ns=(builder.end_ns - SECOND // 2,)).build()
    assert count_rollouts(recording) == 4
    (tree,) = mean_rollouts(totals(recording))
    assert (tree.last, tree.seconds) == (4, pytest.approx(2.0))  # not 8.5 s in five
    assert sum(part.seconds for part in tree.parts if part.depth == 0) == pytest.approx(2.0)


def test_a_program_that_marks_no_rollouts_has_none() -> None:
    recording = recorded(span("env.step", self_seconds=1.0), steps=3)
    assert totals(recording) == {}
    assert count_rollouts(recording) == 0


TABLE = (Expectation("cpu", "supervised", 1000, 2000),)


def speed(sps: float | None, device: str = "cpu", phase: str = "supervised") -> str:
    tree = RolloutTree(phase, 1, 2, 0.5, (), sps)
    _, line = speed_lines(compare_speeds([tree], device, TABLE))
    return line


@pytest.mark.parametrize(
    ("sps", "verdict"),
    [
        (2500.0, "faster"),
        (1500.0, "as expected"),
        (1000.0, "as expected"),
        (999.0, "99.9% of the least"),
        (500.0, "50.0% of the least"),
        (499.0, "SLOW: 49.9% of the least, below 50%"),
        (None, "to 2,000"),
    ],
)
def test_a_phase_below_half_of_what_is_expected_is_flagged(sps: float | None, verdict: str) -> None:
    assert speed(sps).endswith(verdict)


@pytest.mark.parametrize(("device", "phase"), [("gpu", "supervised"), ("cpu", "ppo")])
def test_what_nobody_has_measured_is_unknown(device: str, phase: str) -> None:
    assert speed(1.0, device, phase).endswith("unknown")


def test_the_tree_is_drawn_in_milliseconds_and_indented() -> None:
    (tree,) = mean_rollouts(totals(recorded(supervised(4), steps=16 * 4)))
    lines = rollout_lines(tree, plain=True)
    assert lines[0] == "supervised rollouts 1 to 4, 4.00 steps/s, mean ms"
    assert lines[1].split()[:3] == ["rollout", "2000.00", "100.0%"]
    (calls,) = [line for line in lines if "agent calls" in line]
    assert calls == f"      {'agent calls':<20}    750.00  37.5%  {'#' * 9}"


def test_a_name_from_the_program_cannot_steer_the_terminal() -> None:
    tree = RolloutTree("\x1b[31mred", 1, 1, 0.5, (), None)
    assert "\x1b" not in "".join([*rollout_lines(tree), *speed_lines(compare_speeds([tree], "cpu", ()))])
