"""`unattributed-high` speaks on evidence and is silent on a healthy program."""

from __future__ import annotations

from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.model.own_files import is_users
from rlprof.model.report import Finding
from support.examples import ppo_recording
from support.recordings import FACTS, FrameSpec, RecordingBuilder, SpanSpec, a_recording, iteration, span

MINE = FrameSpec("relabel", "/home/ann/project/goals.py", 57)
CALLER = FrameSpec("main", "/home/ann/project/train.py", 210)
LIBRARY = FrameSpec("dumps", "/usr/lib/python3.11/json/__init__.py", 231)


def findings(builder: RecordingBuilder) -> tuple[Finding, ...]:
    return complete_report(builder.build()).findings


def half_unattributed(seconds: float = 100.0) -> RecordingBuilder:
    half = seconds / 2
    return a_recording(seconds=seconds).spans(iteration(span("env.step", self_seconds=half), self_seconds=half))


def test_a_healthy_program_is_left_in_peace() -> None:
    assert complete_report(ppo_recording()).findings == ()


def test_the_users_own_line_is_named_with_a_bound_on_the_gain() -> None:
    (finding,) = findings(half_unattributed().sample("iteration", 80, CALLER, MINE).sample("iteration", 20, CALLER))
    assert finding.rule == "unattributed-high"
    assert [(place.file, place.line) for place in finding.where] == [(MINE.file, 57), (CALLER.file, 210)]
    assert finding.gain.low == 1.0
    assert finding.gain.sps_ratio == pytest.approx(100 / 60)
    assert finding.evidence["samples"] == 100
    assert finding.evidence["lines"][0]["estimated_seconds"] == pytest.approx(40.0)
    assert "goals.py:57" in finding.cure
    assert 'rlprof.profile("relabel"' in finding.cure
    assert finding.verify == "rlprof run train.py --envs 8"
    assert not finding.changes_learning


def test_the_title_says_where_most_of_it_is() -> None:
    (finding,) = findings(half_unattributed().sample("iteration", 80, CALLER, MINE).sample("iteration", 20, CALLER))
    assert finding.title == "50.0% of the time (50.0 s) is in no span, most of it at line 57 in relabel"
    builder = half_unattributed()
    for line in range(4):
        builder.sample("iteration", 25, FrameSpec(f"work_{line}", MINE.file, line))
    assert findings(builder)[0].title == "50.0% of the time (50.0 s) is in no span"


def doing(file: str, *, facts: dict[str, Any] | None = None) -> str:
    """The cure for a line that spends its time in a library's file, or in none."""
    builder = a_recording(seconds=100.0, facts={**FACTS, **(facts or {})})
    builder.spans(iteration(span("env.step", self_seconds=50.0), self_seconds=50.0))
    below = (FrameSpec("work", file, 9),) if file else ()
    (finding,) = findings(builder.sample("iteration", 100, CALLER, MINE, *below))
    return finding.cure


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("/usr/lib/python3.11/copy.py", "object by object"),
        ("/usr/lib/python3.11/json/encoder.py", "text or bytes"),
        ("/venv/lib/python3.11/site-packages/matplotlib/backends/backend_agg.py", "draws a chart"),
        ("/venv/lib/python3.11/site-packages/torch/storage.py", "tensors into bytes"),
        ("/venv/lib/python3.11/site-packages/torch/_tensor_str.py", "into text"),
        ("/venv/lib/python3.11/site-packages/other/work.py", "every turn of the loop"),
        ("", "every turn of the loop"),
    ],
)
def test_the_cure_is_that_of_what_the_line_was_seen_to_do(file: str, word: str) -> None:
    cure = doing(file)
    assert word in cure
    assert 'rlprof.profile("relabel"' in cure


@pytest.mark.parametrize(
    "facts", [{"loops": {MINE.file: [[55, 60, False]]}}, {"comprehensions": {MINE.file: [[57, 57]]}}]
)
def test_a_loop_of_plain_python_is_told_from_one_slow_line(facts: dict[str, Any]) -> None:
    assert "element by element" in doing("", facts=facts)
    assert "element by element" not in doing("/venv/lib/python3.11/site-packages/other/work.py", facts=facts)


def test_work_that_is_spread_over_a_librarys_functions_is_told_by_its_files() -> None:
    builder = half_unattributed()
    for number in range(8):
        text = FrameSpec(f"format_{number}", "/site-packages/torch/_tensor_str.py", 9)
        builder.sample("iteration", 12, CALLER, MINE, text, FrameSpec("item", "/site-packages/torch/_tensor.py", 9))
    assert "into text" in findings(builder)[0].cure


def unknown_program(*stack: FrameSpec, facts: dict[str, Any]) -> Finding:
    """Most of a program of which nothing at all was recognised."""
    builder = a_recording(seconds=100.0, facts={**FACTS, **facts}).spans()
    (finding,) = findings(builder.sample("", 70, *stack).sample("", 30, CALLER))
    return finding


def test_of_a_program_that_is_not_known_only_what_has_a_cure_is_worth_a_warning() -> None:
    loop = {"loops": {MINE.file: [[55, 60, False]]}, "array_calls": {MINE.file: [[70, 70]]}}
    assert unknown_program(CALLER, MINE, facts=loop).severity == "warning"
    assert unknown_program(CALLER, MINE, facts={}).severity == "info"
    json = FrameSpec("dumps", "/usr/lib/python3.11/json/encoder.py", 200)
    assert unknown_program(CALLER, MINE, json, facts={}).severity == "warning"


def test_a_loop_that_calls_array_libraries_may_be_as_it_should_be() -> None:
    """What runs in C is on no stack: whether arrays are large cannot be seen."""
    facts = {"loops": {MINE.file: [[55, 60, False]]}, "array_calls": {MINE.file: [[58, 59]]}}
    found = unknown_program(CALLER, MINE, facts=facts)
    assert found.severity == "info"
    assert "element by element" not in found.cure


def test_the_loop_that_everything_runs_in_is_the_program() -> None:
    entry = {"loops": {CALLER.file: [[200, 220, False]]}}
    assert unknown_program(CALLER, facts=entry).severity == "info"


def test_the_gain_is_bounded_by_what_the_function_named_first_took() -> None:
    builder = half_unattributed().sample("iteration", 50, MINE).sample("iteration", 50, LIBRARY)
    (finding,) = findings(builder)
    assert finding.gain.sps_ratio == pytest.approx(100 / 75)


def test_library_frames_lead_to_the_line_that_called_them() -> None:
    (finding,) = findings(half_unattributed().sample("iteration", 50, CALLER, MINE, LIBRARY, LIBRARY))
    assert finding.where[0].line == MINE.line


def test_time_in_no_span_at_all_counts_with_that_of_iterations() -> None:
    builder = a_recording(seconds=100.0).spans(iteration(span("env.step", self_seconds=60.0), self_seconds=20.0))
    (finding,) = findings(builder.sample("", 15, CALLER).sample("iteration", 15, MINE))
    assert finding.evidence["samples"] == 30


def test_without_any_span_the_bound_stays_finite() -> None:
    builder = a_recording(seconds=100.0).spans()
    (finding,) = findings(builder.sample("", 100, CALLER))
    assert finding.gain.high <= 100.0


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(half_unattributed().sample("iteration", 19, MINE), id="too few samples"),
        pytest.param(half_unattributed(1.8).sample("iteration", 90, MINE), id="less than a second"),
        pytest.param(half_unattributed().sample("env.step", 90, MINE), id="samples in a span only"),
        pytest.param(half_unattributed().sample("iteration", 90, LIBRARY), id="no line of the user's"),
        pytest.param(half_unattributed(), id="no sampler"),
        pytest.param(
            a_recording(seconds=100.0).spans(span("env.step", self_seconds=90.0)).sample("", 90, MINE), id="a tenth"
        ),
    ],
)
def test_it_is_silent_where_it_cannot_know_or_it_does_not_matter(builder: RecordingBuilder) -> None:
    assert findings(builder) == ()


def test_samples_of_other_threads_say_nothing_about_the_lane() -> None:
    builder = half_unattributed()
    builder.spans(span("prefetch", self_seconds=1.0), thread="prefetch")
    other_root = max(path.id for path in builder.paths.values() if path.name == "")
    builder.sample("iteration", 10, MINE)
    builder.sample_rows.append((other_root, 1, 500))
    assert findings(builder) == ()


@pytest.mark.parametrize(
    ("command", "verify"),
    [
        (("python", "train.py"), "rlprof run train.py"),
        (("/usr/bin/python3.11", "-m", "mine.train"), "rlprof run -m mine.train"),
        (("rlprof", "run", "train.py"), "rlprof run train.py"),
        ((), "rlprof run SCRIPT"),
    ],
)
def test_the_command_to_verify_runs_the_same_program(command: tuple[str, ...], verify: str) -> None:
    builder = a_recording(seconds=100.0, command=command).spans(span("env.step", self_seconds=50.0))
    assert findings(builder.sample("", 50, MINE))[0].verify == verify


@pytest.mark.parametrize(
    ("file", "users"),
    [
        ("/home/ann/project/train.py", True),
        ("train.py", True),
        ("C:\\work\\train.py", True),
        ("/home/ann/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", False),
        ("/usr/lib/python3/dist-packages/numpy/core.py", False),
        ("/usr/local/lib/python3.11/threading.py", False),
        ("C:\\Python311\\Lib\\threading.py", False),
        ("/home/ann/rlprof/src/rlprof/probes/loop.py", False),
        ("/home/ann/rlprof/src/rlprof/profiler.py", False),
        ("/home/ann/rlprof/examples/cartpole_ppo.py", True),
        ("/home/ann/rlprof/src/rlprof/record/sites.py", False),
        ("/home/ann/venv/lib/python3.12/site-packages/rlprof/demos/snake.py", True),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", False),
        ("", False),
    ],
)
def test_a_users_file_is_told_from_libraries_by_its_path(file: str, users: bool) -> None:
    assert is_users(file) is users


LOADING = FrameSpec("_find_and_load", "<frozen importlib._bootstrap>", 1176)


def after_start_up(loop: float, *stack: FrameSpec) -> RecordingBuilder:
    """Twenty seconds of start-up, then a loop with so much time in no span."""
    builder = a_recording(seconds=100.0).spans(span("env.step", self_seconds=80.0 - loop))
    builder.slice_of_time(0.0, 20.0, {"": 20.0}, [("", 95, (CALLER, LOADING, LIBRARY))])
    return builder.slice_of_time(20.0, 100.0, {"": loop, "env.step": 80.0 - loop}, [("", 60, stack)])


def test_start_up_is_no_finding() -> None:
    assert findings(after_start_up(7.9, MINE)) == ()


def test_what_remains_after_start_up_is_judged_by_itself() -> None:
    (finding,) = findings(after_start_up(8.1, CALLER, MINE, LIBRARY))
    assert finding.evidence["startup_seconds"] == pytest.approx(20.0)
    assert finding.evidence["unattributed_seconds"] == pytest.approx(8.1)
    assert finding.evidence["unattributed_share"] == pytest.approx(8.1 / 80)
    assert [place.line for place in finding.where] == [MINE.line]
    assert finding.evidence["lines"][0]["calling"] == ["dumps"]
    assert "after start-up" in finding.title


def test_modules_that_are_loaded_late_are_no_finding() -> None:
    """An optimizer that imports a compiler when it is made: nothing of the loop, and no line to change."""
    module = FrameSpec("<module>", "/venv/lib/python3.11/site-packages/torch/_dynamo/__init__.py", 12)
    assert findings(after_start_up(20.0, CALLER, LOADING, module)) == ()


def test_modules_that_are_loaded_late_are_no_part_of_what_is_told() -> None:
    """Sixty seconds in no span, two thirds of them imports: twenty of the forty that the training took."""
    module = FrameSpec("<module>", "/venv/lib/python3.11/site-packages/torch/_dynamo/__init__.py", 12)
    builder = a_recording(seconds=100.0).spans(span("env.step", self_seconds=20.0))
    builder.slice_of_time(0.0, 20.0, {"": 20.0}, [("", 95, (CALLER, LOADING, LIBRARY))])
    samples = [("", 40, (CALLER, LOADING, module)), ("", 20, (CALLER, MINE))]
    (finding,) = findings(builder.slice_of_time(20.0, 100.0, {"": 60.0, "env.step": 20.0}, samples))
    assert finding.evidence["unattributed_seconds"] == pytest.approx(20.0, rel=0.01)
    assert finding.evidence["unattributed_share"] == pytest.approx(0.5, rel=0.01)
    assert [place.line for place in finding.where] == [MINE.line]


def in_stages(*spans: SpanSpec) -> RecordingBuilder:
    return a_recording(seconds=100.0).spans(*spans).counter("env_steps", 1000)


@pytest.mark.parametrize(("stage", "phase"), [("collecting", None), ("learning", "learn.other")])
def test_a_line_with_much_of_a_stage_that_rlprof_inferred_is_named(stage: str, phase: str | None) -> None:
    builder = in_stages(span(stage, span("env.step", self_seconds=50.0), phase=phase, self_seconds=50.0))
    (finding,) = findings(builder.sample(stage, 60, CALLER, MINE).sample(stage, 40, CALLER))
    assert (finding.rule, finding.severity, finding.where[0].line) == ("unattributed-high", "warning", MINE.line)
    assert finding.evidence["spot_seconds"] == pytest.approx(30.0)
    assert finding.gain.sps_ratio == pytest.approx(100 / 60, rel=0.1)


def test_a_loop_that_goes_round_in_both_stages_is_one_finding() -> None:
    builder = in_stages(
        span("collecting", span("env.step", self_seconds=30.0), self_seconds=40.0),
        span("learning", phase="learn.other", self_seconds=30.0),
    )
    builder = builder.sample("collecting", 60, CALLER, MINE).sample("collecting", 20, CALLER)
    (finding,) = findings(builder.sample("learning", 40, CALLER, MINE).sample("learning", 20, CALLER))
    assert finding.where[0].line == MINE.line
    assert finding.evidence["phases"] == ["other", "learn.other"]
    assert finding.evidence["spot_seconds"] == pytest.approx(30.0 + 20.0)


def test_a_stage_whose_time_is_spread_over_the_loop_is_left_in_peace() -> None:
    builder = in_stages(span("collecting", span("env.step", self_seconds=50.0), self_seconds=50.0))
    for line in range(8):
        builder = builder.sample("collecting", 25, FrameSpec("main", CALLER.file, 300 + line))
    assert findings(builder.sample("env.step", 50, FrameSpec("main", CALLER.file, 308))) == ()


def test_what_torch_does_for_a_line_of_a_stage_is_acting_or_learning() -> None:
    torch = FrameSpec("Categorical.sample", "/site-packages/torch/distributions/categorical.py", 130)
    builder = in_stages(span("collecting", span("env.step", self_seconds=50.0), self_seconds=50.0))
    assert findings(builder.sample("collecting", 60, CALLER, MINE, torch)) == ()


def test_spans_of_the_users_own_without_a_phase_have_a_name() -> None:
    builder = in_stages(span("relabel", span("env.step", self_seconds=50.0), self_seconds=50.0))
    assert findings(builder.sample("relabel", 60, CALLER, MINE)) == ()
