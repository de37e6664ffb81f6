"""Rendering, resets, logging, evaluation, saving and garbage collections: named where they are repeated and matter."""

from __future__ import annotations

import pytest

from support.advice import SB3, found, train
from support.recordings import FrameSpec, RecordingBuilder, SpanSpec, a_recording, span

RESIZE = FrameSpec("Image.resize", "/home/ann/venv/lib/python3.11/site-packages/PIL/Image.py", 2300)
ZOOM = FrameSpec("zoom", "/home/ann/venv/lib/python3.11/site-packages/scipy/ndimage/_interpolation.py", 700)
DRAW = FrameSpec("ImageDraw.line", "/home/ann/venv/lib/python3.11/site-packages/PIL/ImageDraw.py", 230)
LOGGING = FrameSpec("Logger.makeRecord", "/usr/lib/python3.11/logging/__init__.py", 1600)
IMPORTING = FrameSpec("_find_and_load", "<frozen importlib._bootstrap>", 1176)
MODULE_BODY = FrameSpec("<module>", "/home/ann/venv/lib/python3.11/site-packages/torch/__init__.py", 1)


def beside_steps(*work: SpanSpec, steps: int = 1000) -> RecordingBuilder:
    """A hundred seconds of env steps and of this."""
    rest = 100.0 - sum(one.total_ns for one in work) / 1e9
    return (
        a_recording(seconds=100.0)
        .spans(span("env.step", count=steps, self_seconds=rest), *work)
        .counter("env_steps", steps)
    )


def test_frames_that_are_drawn_beside_the_steps_are_named_by_the_line_that_asks() -> None:
    builder = beside_steps(span("env.render", count=1000, self_seconds=60.0))
    builder.sample("env.render", 30, train(9), train(70, "World.render"))
    builder.sample("env.render", 30, train(9), train(71, "World.render"))
    finding = found(builder, "render-cost")
    assert finding is not None
    assert [place.line for place in finding.where] == [9, 70, 71]
    assert finding.evidence["frames_per_env_step"] == pytest.approx(1)
    assert finding.gain.sps_ratio == pytest.approx(2.5)


def test_frames_that_a_wrapper_keeps_in_every_step_are_information_with_its_line() -> None:
    work = span("env.render", count=1000, self_seconds=60.0)
    builder = a_recording(seconds=100.0).spans(span("env.step", work, count=1000, self_seconds=40.0))
    builder.counter("env_steps", 1000)
    builder.sample("env.render", 30, train(9), SB3, train(50, "Film.step"), train(70, "World.render"))
    builder.sample("env.render", 30, train(9), SB3, train(50, "Film.step"), train(71, "World.render"))
    finding = found(builder, "render-cost")
    assert finding is not None
    assert finding.severity == "info"
    assert [place.line for place in finding.where] == [50, 70, 71]


def test_a_film_of_a_few_frames_is_left_in_peace() -> None:
    builder = beside_steps(span("env.render", count=9, self_seconds=60.0)).sample("env.render", 30, train(9))
    assert found(builder, "render-cost") is None


@pytest.mark.parametrize(("below", "severity"), [(RESIZE, "critical"), (ZOOM, "critical"), (DRAW, "info")])
def test_pixels_may_be_what_the_agent_sees_unless_they_are_resized(below: FrameSpec, severity: str) -> None:
    builder = beside_steps().sample("env.step", 60, train(80, "World.look"), below)
    finding = found(builder.sample("env.step", 60, train(30, "World.step")), "render-cost")
    assert finding is not None
    assert (finding.severity, finding.where[0].line) == (severity, 80)


def resetting(calls: int, seconds: float, episodes: int = 100, steps: int = 1000) -> RecordingBuilder:
    builder = beside_steps(span("env.reset", count=calls, self_seconds=seconds), steps=steps)
    return builder.counter("episodes", episodes).sample("env.reset", 40, train(9), train(33, "World.reset"))


def test_a_reset_that_costs_many_steps_is_named() -> None:
    finding = found(resetting(100, 40.0), "reset-cost")
    assert finding is not None
    assert finding.where[0].line == 33
    assert finding.evidence["reset_in_env_steps"] == pytest.approx(0.4 / 0.06)
    assert finding.gain.sps_ratio == pytest.approx(100 / 60)


def test_resets_that_come_twice_are_named_even_if_cheap() -> None:
    finding = found(resetting(200, 10.0), "reset-cost")
    assert finding is not None
    assert finding.evidence["resets_per_episode"] == pytest.approx(2)
    assert "second `reset()`" in finding.cure


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(resetting(500, 40.0, episodes=500), id="as cheap as a step, of short episodes"),
        pytest.param(resetting(5, 40.0), id="a few"),
        pytest.param(resetting(100, 2.0), id="a small part"),
        pytest.param(
            resetting(100, 40.0).with_stats("env.reset", max_ns=39_000_000_000), id="the first builds the world"
        ),
    ],
)
def test_ordinary_resets_are_left_in_peace(builder: RecordingBuilder) -> None:
    assert found(builder, "reset-cost") is None


def test_a_function_that_logs_goes_as_a_whole_and_takes_its_collections_along() -> None:
    builder = beside_steps(
        span("log", span("gc generation 0", phase="gc", count=50, self_seconds=5.0), count=1000, self_seconds=25.0),
        span("collecting", self_seconds=20.0),
    )
    builder.sample("env.step", 10, train(9)).sample("gc generation 0", 10, train(9), train(31, "write"))
    builder.sample("log", 40, train(9), train(31, "write")).sample("collecting", 40, train(9), train(32, "write"))
    finding = found(builder, "logging-cost")
    assert finding is not None
    assert (finding.evidence["log_seconds"], finding.evidence["seconds_beside"]) == pytest.approx((30.0, 20.0))
    assert found(builder, "gc-pauses") is None


def test_logging_in_each_step_is_named_with_what_it_took_beside_the_span() -> None:
    builder = beside_steps(span("log", count=1000, self_seconds=30.0), span("collecting", self_seconds=20.0))
    builder.sample("log", 40, train(12), LOGGING).sample("collecting", 20, train(12), LOGGING)
    finding = found(builder.sample("collecting", 20, train(14)), "logging-cost")
    assert finding is not None
    assert finding.where[0].line == 12
    assert finding.evidence["seconds_beside"] == pytest.approx(10.0)
    assert finding.gain.high > 100 / 60


def test_reading_tensors_for_the_log_is_not_logging() -> None:
    reading = span(".item() train.py:12", count=9000, self_seconds=29.0)
    builder = beside_steps(span("log", reading, count=1000, self_seconds=1.0)).sample("log", 40, train(12))
    assert found(builder, "logging-cost") is None
    assert found(builder, "sync-in-loop") is not None


def test_a_few_lines_of_a_log_are_left_in_peace() -> None:
    builder = beside_steps(span("log", count=5, self_seconds=30.0)).sample("log", 40, train(12))
    assert found(builder, "logging-cost") is None


def evaluating(calls: int) -> RecordingBuilder:
    inside = span("forward", count=5000, self_seconds=35.0, phase="policy.forward")
    builder = beside_steps(span("evaluate", inside, count=calls, self_seconds=5.0))
    return builder.sample("evaluate", 40, train(40), SB3)


def test_evaluations_count_with_all_that_is_inside_of_them() -> None:
    finding = found(evaluating(4), "evaluation-cost")
    assert finding is not None
    assert finding.where[0].line == 40
    assert finding.gain.sps_ratio == pytest.approx(100 / 60)
    assert finding.evidence["env_steps_between"] == pytest.approx(250)


def test_one_evaluation_at_the_end_is_left_in_peace() -> None:
    assert found(evaluating(1), "evaluation-cost") is None


def saving(calls: int) -> RecordingBuilder:
    collections = span("gc generation 1", count=90, self_seconds=8.0, phase="gc")
    builder = beside_steps(span("torch.save", collections, count=calls, self_seconds=22.0, phase="checkpoint"))
    return builder.sample("torch.save", 40, train(50), SB3).sample("gc generation 1", 9, train(50))


def test_repeated_saving_is_named_and_explains_its_garbage_collections() -> None:
    finding = found(saving(20), "checkpoint-pause")
    assert finding is not None
    assert (finding.severity, finding.where[0].line) == ("warning", 50)
    assert finding.gain.sps_ratio == pytest.approx(100 / 70)
    assert found(saving(20), "gc-pauses") is None


def test_saving_at_the_end_is_only_information() -> None:
    finding = found(saving(2), "checkpoint-pause")
    assert finding is not None
    assert finding.severity == "info"


def collecting_garbage(full: int, lesser: int, seconds: float = 30.0) -> RecordingBuilder:
    return beside_steps(
        span("gc generation 2", count=full, self_seconds=seconds, phase="gc"),
        span("gc generation 1", count=lesser, self_seconds=0.1, phase="gc"),
    ).sample("gc generation 2", 60, train(66))


def test_collections_that_the_program_asks_for_are_named_by_that_line() -> None:
    finding = found(collecting_garbage(300, 10), "gc-pauses")
    assert finding is not None
    assert finding.evidence["asked_for"] is True
    assert finding.where[0].line == 66
    assert "out of the loop" in finding.cure


def test_collections_that_come_by_themselves_have_another_cure() -> None:
    finding = found(collecting_garbage(10, 100), "gc-pauses")
    assert finding is not None
    assert finding.evidence["asked_for"] is False
    assert "gc.freeze()" in finding.cure


def test_collections_while_modules_are_loaded_are_left_in_peace() -> None:
    builder = beside_steps(span("gc generation 2", count=9, self_seconds=30.0, phase="gc"))
    builder.sample("gc generation 2", 60, train(1, "<module>"), IMPORTING, MODULE_BODY)
    builder.sample("gc generation 2", 1, train(66))
    assert found(builder, "gc-pauses") is None


def test_collections_while_something_is_compiled_are_the_compilers() -> None:
    collections = span("gc generation 2", count=9, self_seconds=30.0, phase="gc")
    builder = beside_steps(span("torch.compile: act train.py:20", collections, self_seconds=10.0))
    assert found(builder.sample("gc generation 2", 60, train(66)), "gc-pauses") is None
