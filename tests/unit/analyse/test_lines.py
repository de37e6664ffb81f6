"""Each part of the ledger goes down to the user's own lines, and nothing of it is lost on the way."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlprof.analyse.lines import interval
from rlprof.analyse.places import Sights
from rlprof.analyse.report import build_report
from rlprof.model.recording import Frame
from rlprof.model.report import Drilldown, Report
from support.recordings import FrameSpec, RecordingBuilder, a_recording, iteration, span

MAIN = FrameSpec("main", "/home/ann/train.py", 10)
HOT = FrameSpec("relabel", "/home/ann/goals.py", 57)
DUMPS = FrameSpec("dumps", "/usr/lib/python3.11/json/__init__.py", 231)
ENCODE = FrameSpec("JSONEncoder.encode", "/usr/lib/python3.11/json/encoder.py", 200)
LOADING = FrameSpec("_find_and_load", "<frozen importlib._bootstrap>", 1176)
TORCH = FrameSpec("<module>", "/venv/lib/python3.11/site-packages/torch/__init__.py", 2885)
PROBE = FrameSpec("call", "/venv/src/rlprof/record/wrap.py", 27)


def part(report: Report, name: str) -> Drilldown:
    assert report.drilldown is not None
    return next(drilled for drilled in report.drilldown if drilled.part == name)


def total(drilled: Drilldown) -> float:
    return sum(line.seconds for line in drilled.lines) + drilled.other_seconds + drilled.unsampled_seconds


def loop() -> RecordingBuilder:
    return a_recording(seconds=10.0).spans(span("env.step", self_seconds=4.0))


def test_a_line_is_given_its_share_of_the_time_and_says_what_ran_below_it() -> None:
    builder = loop().sample("", 75, MAIN, HOT).sample("", 25, MAIN, DUMPS, ENCODE)
    first, second = part(build_report(builder.build()), "unattributed").lines
    assert (first.file, first.line, first.function, first.calling) == (HOT.file, 57, "relabel", ())
    assert first.seconds == pytest.approx(4.5)
    assert first.share == pytest.approx(0.45)
    assert first.low_seconds < 4.5 < first.high_seconds
    assert (second.line, second.calling[0].function, second.calling[0].line) == (10, "JSONEncoder.encode", 200)


def test_phases_go_down_to_lines_as_well() -> None:
    drilled = part(build_report(loop().sample("env.step", 40, MAIN, PROBE, HOT).build()), "env.step")
    assert [(line.file, line.seconds) for line in drilled.lines] == [(HOT.file, pytest.approx(4.0))]


def test_our_own_frames_are_no_library() -> None:
    (line,) = part(build_report(loop().sample("", 40, MAIN, PROBE).build()), "unattributed").lines
    assert (line.file, line.calling) == (MAIN.file, ())


def test_what_an_import_runs_counts_as_the_import() -> None:
    builder = loop().sample("", 40, MAIN, LOADING, TORCH, LOADING, DUMPS)
    (line,) = part(build_report(builder.build()), "unattributed").lines
    assert [call.function for call in line.calling] == ["import torch"]


def test_a_comprehension_belongs_to_the_line_it_stands_on() -> None:
    inner = FrameSpec("relabel.<locals>.<genexpr>", HOT.file, HOT.line)
    (line,) = part(build_report(loop().sample("", 5, HOT).sample("", 20, HOT, inner).build()), "unattributed").lines
    assert (line.function, line.samples) == ("relabel", 25)


def test_a_stack_of_libraries_alone_shows_the_library_and_says_that_it_is_nobodys() -> None:
    (line,) = part(build_report(loop().sample("", 40, DUMPS, ENCODE).build()), "unattributed").lines
    assert (line.file, line.own) == (ENCODE.file, False)


def test_without_samples_nothing_is_claimed() -> None:
    assert build_report(loop().build()).drilldown is None


def test_a_part_that_nobody_saw_is_unsampled() -> None:
    drilled = part(build_report(loop().sample("", 40, MAIN).build()), "env.step")
    assert (drilled.lines, drilled.unsampled_seconds) == ((), pytest.approx(4.0))
    assert drilled.expected_samples == pytest.approx(16.0)


def test_a_call_that_hid_from_the_sampler_is_given_the_time_that_passed_meanwhile() -> None:
    """Five seconds with a sample each half second, then five with fifty: samples do not come at a steady rate."""
    builder = a_recording(seconds=20.0).spans(span("env.step", self_seconds=0.01))
    builder.slice_of_time(0, 0.5, {"env.step": 0.01, "": 0.0})
    for number in range(10):
        builder.slice_of_time(1 + number / 2, 1.5 + number / 2, {"": 0.5}, [("", 1, (MAIN, DUMPS))])
    for number in range(10):
        builder.slice_of_time(6 + number / 2, 6.5 + number / 2, {"": 0.5}, [("", 50, (MAIN, HOT))])
    lines = {line.line: line for line in part(build_report(builder.build()), "unattributed").lines}
    assert lines[10].seconds == pytest.approx(lines[57].seconds, rel=1e-6)
    assert lines[10].samples == 10
    assert lines[10].high_seconds - lines[10].low_seconds > 5.0  # ten samples are few, whatever stands beside them


def test_start_up_has_lines_of_its_own() -> None:
    builder = loop().slice_of_time(0, 2, {"": 2.0}, [("", 100, (MAIN, LOADING, TORCH))])
    builder.slice_of_time(2, 3, {"": 0.8, "env.step": 0.2}, [("", 60, (MAIN, LOADING, TORCH)), ("", 20, (HOT,))])
    builder.slice_of_time(3, 10, {"": 3.5, "env.step": 3.5}, [("", 100, (HOT,))])
    report = build_report(builder.build())
    assert [line.line for line in part(report, "startup").lines] == [10]
    assert [line.line for line in part(report, "unattributed").lines] == [57]


@pytest.mark.parametrize(("share", "samples"), [(0.5, 20), (0.0, 5), (1.0, 1), (0.1, 400)])
def test_the_interval_holds_the_share_and_narrows_with_samples(share: float, samples: int) -> None:
    low, high = interval(share, samples)
    assert 0 <= low <= share <= high <= 1
    nearer = interval(share, 4 * samples)
    assert nearer[1] - nearer[0] < high - low
    assert interval(share, 0) == (0.0, 1.0)


def test_the_interval_is_wilsons() -> None:
    assert interval(0.5, 100) == (pytest.approx(0.4038, abs=1e-3), pytest.approx(0.5962, abs=1e-3))


PLACES = st.lists(st.sampled_from([MAIN, HOT, DUMPS, ENCODE, LOADING, TORCH, PROBE]), min_size=1, max_size=5)
SECONDS = st.floats(0, 3)


@settings(max_examples=80, deadline=None)
@given(
    slices=st.lists(
        st.tuples(
            SECONDS,
            SECONDS,
            SECONDS,
            st.lists(st.tuples(st.sampled_from(["", "iteration", "env.step"]), st.integers(1, 60), PLACES), max_size=4),
        ),
        max_size=8,
    ),
    lost=st.floats(0, 2),
    timed=st.booleans(),
)
def test_every_second_of_every_part_is_in_one_line_or_said_to_be_in_none(
    slices: list[tuple[float, float, float, list[tuple[str, int, list[FrameSpec]]]]], lost: float, timed: bool
) -> None:
    root, turn, step = (sum(row[index] for row in slices) for index in range(3))
    builder = a_recording(seconds=root + turn + step + lost)
    builder.spans(iteration(span("env.step", self_seconds=step), self_seconds=turn))
    at = 0.0
    for own in slices:
        samples = [(path, count, tuple(stack)) for path, count, stack in own[3]]
        end = at + sum(own[:3]) + 0.001
        builder.slice_of_time(at, end, {"": own[0], "iteration": own[1], "env.step": own[2]}, samples)
        at = end
    if not timed:
        builder.sample_ends.clear()
    report = build_report(builder.build())
    if report.drilldown is None:
        assert not builder.sample_rows
        return
    for drilled in report.drilldown:
        assert total(drilled) == pytest.approx(drilled.seconds, rel=1e-6, abs=1e-9)
        for line in drilled.lines:
            assert 0 <= line.low_seconds <= line.seconds <= line.high_seconds + 1e-9
            assert sum(call.seconds for call in line.calling) <= line.seconds + 1e-9
    seconds = {drilled.part: drilled.seconds for drilled in report.drilldown}
    outside = seconds.get("startup", 0.0) + seconds.get("unattributed", 0.0)
    assert outside == pytest.approx(report.ledger.unattributed_seconds, rel=1e-6, abs=1e-6)
    assert seconds.get("env.step", 0.0) == pytest.approx(sum(entry.seconds for entry in report.phases), abs=1e-6)
    assert not any(math.isnan(value) for value in seconds.values())


def test_a_circle_of_frames_ends() -> None:
    frames = {1: Frame(1, 2, "a", MAIN.file, 1), 2: Frame(2, 1, "b", HOT.file, 2)}
    sight = Sights(frames).at(1)
    assert sight is not None
    assert sight.own
    assert Sights(frames).at(3) is None
