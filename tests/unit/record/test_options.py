"""How to record: what is understood, what is refused, and that it reaches children unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.errors import BadOption
from rlprof.record.options import Options, Schedule

COUNTS = st.integers(0, 10_000)
SCHEDULES = st.builds(Schedule, COUNTS, COUNTS, st.integers(1, 10_000), COUNTS)


@given(SCHEDULES)
def test_a_schedule_reads_back_from_its_own_words(schedule: Schedule) -> None:
    wait, warmup, active, repeat = schedule.as_tuple()
    assert Schedule.parse(f"wait={wait},warmup={warmup}, active={active} ,repeat={repeat}") == schedule


def test_what_a_schedule_leaves_out_keeps_its_default() -> None:
    assert Schedule.parse("active=3") == Schedule(wait=0, warmup=0, active=3, repeat=0)
    assert Schedule.parse("repeat=2,wait=1") == Schedule(wait=1, warmup=0, active=1, repeat=2)


@pytest.mark.parametrize(
    "text",
    ["", ",", "wait", "wait=", "wait=x", "wait=-1", "wait=1.5", "pause=1", "wait=1,wait=2", "wait=1;active=2", "=1"],
)
def test_what_is_no_schedule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadOption, match="wait=2,warmup=2,active=4,repeat=1"):
        Schedule.parse(text)


def test_a_schedule_that_never_logs_is_refused() -> None:
    with pytest.raises(BadOption, match="active=1 or more"):
        Schedule.parse("wait=3,active=0")


@pytest.mark.parametrize("number", ["9" * 19, "9" * 20, "9" * 5000])
def test_a_number_of_iterations_that_no_run_has_is_refused(number: str) -> None:
    with pytest.raises(BadOption):
        Schedule.parse(f"wait={number},active=1")


@given(st.text(max_size=40))
def test_any_other_text_is_a_schedule_or_a_bad_option(text: str) -> None:
    try:
        schedule = Schedule.parse(text)
    except BadOption:
        return
    assert schedule.active >= 1


@given(
    st.builds(
        Options,
        memory=st.booleans(),
        sampler_hz=st.floats(0, 1000),
        schedule=st.none() | SCHEDULES,
        keep_slowest=st.integers(0, 16),
        follow_children=st.booleans(),
    )
)
def test_options_reach_a_child_as_they_are(options: Options) -> None:
    assert Options.from_json(options.to_json()) == options
