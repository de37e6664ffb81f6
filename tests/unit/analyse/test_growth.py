"""What grows is found; what only looks like it is not."""

from __future__ import annotations

import numpy as np
import pytest

from rlprof.analyse.course import course_of
from rlprof.analyse.growth import Growth, growing_parts
from rlprof.analyse.growth_lines import grown_lines
from rlprof.analyse.growth_paths import grown_path
from rlprof.analyse.pace import Pace
from rlprof.analyse.projection import in_words, project, project_episodes
from support.courses import NO_SPAN, Run, always, jump, rising
from support.recordings import FrameSpec

STEADY = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}


def grown(run: Run) -> tuple[Pace, tuple[Growth, ...]]:
    pace = course_of(run.build().build()).pace
    assert pace is not None
    return pace, growing_parts(pace)


def test_a_sample_that_takes_longer_with_every_step_is_found_with_its_course() -> None:
    _, (growth,) = grown(Run({**STEADY, "buffer.sample": rising(1e-4, 1e-7)}))
    assert growth.part == "buffer.sample"
    assert growth.factor > 2.0
    assert growth.line.low <= 1e-7 <= growth.line.high
    assert growth.power.exponent == 1.0
    assert growth.first_per_call is not None
    assert growth.last_per_call is not None
    assert growth.last_per_call / growth.first_per_call == pytest.approx(growth.factor, rel=0.2)


def test_time_in_no_span_is_judged_per_env_step() -> None:
    _, (growth,) = grown(Run({**STEADY, NO_SPAN: rising(1e-5, 8e-8)}))
    assert growth.part == "unattributed"
    assert growth.first_per_call is None


def test_the_excess_is_what_the_run_took_beyond_the_first_level() -> None:
    pace, (growth,) = grown(Run({**STEADY, "buffer.sample": rising(1e-4, 1e-7)}, noise=0.0))
    first = pace.own_ns["buffer.sample"][0] / pace.steps[0]
    expected = (pace.own_ns["buffer.sample"] - first * pace.steps).sum() / 1e9
    assert growth.excess_seconds == pytest.approx(expected, rel=0.01)


HEALTHY = {
    "steady": Run(STEADY),
    "learning starts late": Run(
        {**STEADY, NO_SPAN: jump(1e-5, 2e-4, 8000)},
        often={"learn.loss": jump(0.0, 1.0, 8000)},
        updates=jump(0.0, 1.0, 8000),
    ),
    "more updates with time": Run(STEADY, often={"learn.loss": rising(0.1, 1e-4)}),
    "acting more and more": Run(
        {**STEADY, NO_SPAN: lambda steps: 1e-5 + 2e-4 * min(steps / 2e4, 1.0)},
        often={"policy.forward": lambda steps: 0.05 + 0.95 * min(steps / 2e4, 1.0)},
    ),
    "acting more and more, in a span around it": Run(
        {**STEADY, "collecting": lambda steps: 1e-5 + 2e-4 * min(steps / 2e4, 1.0)},
        often={"policy.forward": lambda steps: 0.05 + 0.95 * min(steps / 2e4, 1.0)},
    ),
    "a jump": Run({**STEADY, "buffer.sample": jump(1e-4, 6e-4, 7000)}),
    "a buffer that is full at half": Run(
        {**STEADY, "buffer.sample": lambda steps: 1e-4 + 4e-4 * min(steps / 5000, 1.0)}, slices=60
    ),
    "the machine gets slower": Run(STEADY, machine=rising(1.0, 0.1)),
    "longer episodes": Run({**STEADY, "env.step": rising(1e-4, 4e-8)}, episode_length=rising(20.0, 0.02), slices=60),
    "longer evaluations": Run({**STEADY, "evaluate": rising(1e-4, 1e-7)}),
    "it gets cheaper": Run({**STEADY, "buffer.sample": lambda steps: 1e-3 / (1 + steps / 5000)}),
    "too short to tell": Run({**STEADY, "buffer.sample": rising(1e-4, 1e-6)}, slices=6),
    "small": Run({**STEADY, "buffer.sample": rising(1e-6, 1e-9)}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_does_not_grow_is_left_in_peace(name: str) -> None:
    assert grown(HEALTHY[name])[1] == ()


def test_a_busy_machine_seldom_makes_a_growth() -> None:
    wrong = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        load = np.exp(np.cumsum(random.normal(0.0, 0.12, 200)))
        run = Run(STEADY, machine=lambda at, load=load: float(load[int(at / 0.5)]), noise=0.25, seed=seed)
        wrong += bool(grown(run)[1])
    assert wrong <= 2


def test_growth_is_found_on_a_busy_machine_too() -> None:
    found = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        load = np.exp(0.4 * random.normal(0.0, 1.0, 200))
        costs = {**STEADY, "buffer.sample": rising(1e-4, 2e-7)}
        run = Run(costs, machine=lambda at, load=load: float(load[int(at / 0.5)]), noise=0.15, seed=seed)
        found += any(growth.part == "buffer.sample" for growth in grown(run)[1])
    assert found >= 45


def test_the_operation_that_rose_is_named_with_its_calls() -> None:
    course = course_of(
        Run({**STEADY, "buffer.sample": rising(1e-4, 1e-7)}, often={"buffer.sample": always(0.25)}).build().build()
    )
    assert course.pace is not None
    (growth,) = growing_parts(course.pace)
    path = grown_path(course.account, course.pace, growth)
    assert path is not None
    assert path.names == ("buffer.sample",)
    assert path.per_call[1] > 1.4 * path.per_call[0]
    assert path.calls_per_step == pytest.approx((0.25, 0.25), rel=0.02)


OLD, NEW = FrameSpec("Replay.sample", "/home/ann/train.py", 30), FrameSpec("Replay.sample", "/home/ann/train.py", 31)


def test_the_line_that_rose_is_named_before_one_that_takes_as_long_all_the_time() -> None:
    run = Run(
        {**STEADY, "buffer.sample": rising(4e-4, 1e-7)},
        stacks={"buffer.sample": ((OLD, always(4e-4)), (NEW, rising(0.0, 1e-7)))},
    )
    course = course_of(run.build().build())
    assert course.pace is not None
    (growth,) = growing_parts(course.pace)
    lines = grown_lines(course.account, course.pace, growth)
    assert [line.spot.line for line in lines] == [31, 30]
    assert lines[0].rise > 5 * abs(lines[1].rise)
    assert lines[0].seconds <= lines[0].high_seconds


def test_a_longer_run_takes_more_than_in_proportion() -> None:
    pace, growths = grown(Run({**STEADY, "buffer.sample": rising(0.0, 1e-7)}, noise=0.01))
    ahead = project(pace, growths, 10.0)
    share = pace.own_ns["buffer.sample"].sum() / sum(own.sum() for own in pace.own_ns.values())
    assert ahead.beyond_linear == pytest.approx(1 + share * 9, rel=0.1)  # the integral of a line grows with the square
    assert ahead.low <= ahead.seconds <= ahead.high
    assert ahead.because == ("buffer.sample",)
    assert project(pace, (), 10.0).beyond_linear == 1.0


def test_more_episodes_take_longer_where_episodes_got_longer() -> None:
    pace, growths = grown(Run(STEADY, episode_length=rising(10.0, 0.01)))
    ahead = project_episodes(pace, growths, 20 * float(pace.episodes.sum()))
    assert ahead is not None
    assert ahead.beyond_linear > 1.5
    assert ahead.because == ("longer episodes",)
    assert in_words(ahead, "200 episodes").endswith(", because of longer episodes")


def test_episodes_that_get_longer_go_on_to_do_so() -> None:
    """The first third of a run says how long the whole takes."""
    part, whole = (
        course_of(Run(STEADY, episode_length=lambda steps: 10.0 + 0.8 * steps**0.5, slices=slices).build().build()).pace
        for slices in (40, 120)
    )
    assert part is not None
    assert whole is not None
    ahead = project_episodes(part, (), float(whole.episodes.sum()))
    assert ahead is not None
    real = float((whole.end_ns - whole.start_ns).sum()) / 1e9
    assert ahead.low <= real <= ahead.high
    assert ahead.seconds == pytest.approx(real, rel=0.15)
    assert ahead.linear_seconds < 0.85 * real


def test_episodes_that_stopped_getting_longer_stay_as_they_are() -> None:
    pace, growths = grown(Run(STEADY, episode_length=lambda steps: min(10.0 + 0.01 * steps, 40.0)))
    ahead = project_episodes(pace, growths, 10 * float(pace.episodes.sum()))
    assert ahead is not None
    last = float(pace.steps[-5:].sum() / pace.episodes[-5:].sum())
    assert ahead.times * float(pace.steps.sum()) == pytest.approx(9 * float(pace.episodes.sum()) * last, rel=0.15)


def test_without_episodes_nothing_is_said_of_them() -> None:
    builder = Run(STEADY).build()
    builder.counts.pop("episodes")
    builder.counter_rows = [row for row in builder.counter_rows if row[2] != "episodes"]
    pace = course_of(builder.build()).pace
    assert pace is not None
    assert project_episodes(pace, (), 1000) is None
