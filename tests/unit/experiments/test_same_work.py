"""Whether an arm did the same work: a program that does less is not faster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.same_work import Kind, Work, judge_work, work_of
from support.recordings import a_recording

USUAL = [Work(10_000, 50, 2_500)] * 5


@pytest.mark.parametrize(
    ("arm", "kind", "said"),
    [
        (Work(10_000, 50, 2_500), "same", "does the same work"),
        (Work(10_200, 51, 2_550), "same", "does the same work"),
        (Work(5_000, 25, 1_250), "less", "env steps: 5,000 instead of 10,000, -50%"),
        (Work(10_000, 50, 625), "less", "updates per env step: 0.062 instead of 0.25, -75%"),
        (Work(10_000, 50, None), "less", "updates per env step: 0 instead of 0.25, -100%"),
        (Work(20_000, 100, 5_000), "more", "env steps: 20,000 instead of 10,000, +100%"),
        (Work(10_000, 100, 2_500), "different", "steps per episode: 100 instead of 200, -50%"),
        (Work(None, None, None), "less", "env steps: 0 instead of 10,000"),
    ],
)
def test_less_work_is_called_that(arm: Work, kind: Kind, said: str) -> None:
    found = judge_work(USUAL, [arm] * 3)
    assert found.kind == kind
    assert said in found.text
    assert found.is_same == (kind == "same")


def test_less_work_outweighs_more_of_another_kind() -> None:
    assert judge_work(USUAL, [Work(20_000, 100, 100)]).kind == "less"


def test_where_nobody_counts_nobody_can_say() -> None:
    assert judge_work([Work()], [Work()]).kind == "unknown"
    assert judge_work([], USUAL).kind == "unknown"


def test_a_difference_that_the_baselines_own_runs_show_is_none() -> None:
    uneven = [Work(steps, None, None) for steps in (8_000, 10_000, 12_000)]
    assert judge_work(uneven, [Work(9_000, None, None)]).is_same


def test_a_fixed_number_of_episodes_makes_steps_a_matter_of_chance() -> None:
    played = [Work(steps, 50, None) for steps in (9_800, 10_000, 10_200)]
    assert judge_work(played, [Work(9_000, 50, None)]).is_same
    assert judge_work(played, [Work(5_000, 50, None)]).kind == "different"


def test_a_handful_of_episodes_says_nothing_about_their_length() -> None:
    assert judge_work([Work(10_000, 4, None)] * 3, [Work(10_000, 8, None)] * 3).is_same


@given(st.lists(st.tuples(st.floats(1, 1e9), st.integers(1, 10_000), st.floats(0, 1e6)), min_size=1, max_size=6))
def test_runs_held_against_themselves_are_the_same(runs: list[tuple[float, int, float]]) -> None:
    work = [Work(*run) for run in runs]
    assert judge_work(work, work).is_same


def test_work_is_what_a_recording_counted() -> None:
    recording = a_recording(seconds=10.0).counter("env_steps", 400).counter("updates", 20).build()
    assert work_of(recording) == Work(400, None, 20)
