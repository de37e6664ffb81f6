"""What a recording cannot carry is said, and findings that rest on it are held back with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from rlprof.advise.engine import RULES, advise
from rlprof.advise.report import complete_report
from rlprof.advise.rule import Rule
from rlprof.advise.rules.unattributed_high import unattributed_high
from rlprof.advise.trust import doubts_about, hold_back
from rlprof.analyse.report import build_report
from rlprof.cli import report as command
from rlprof.model.recording import Recording
from support.examples import ppo_recording
from support.recordings import FACTS, FrameSpec, RecordingBuilder, a_recording, iteration, span
from support.vector_envs import Step, recording_of

MINE = FrameSpec("relabel", "/home/ann/project/goals.py", 57)


def codes(builder: RecordingBuilder) -> list[str]:
    recording = builder.build()
    return [doubt.code for doubt in doubts_about(recording, build_report(recording))]


def steady(seconds: float = 30.0, **changes: Any) -> RecordingBuilder:
    builder = a_recording(seconds=seconds, **changes)
    return builder.spans(span("env.step", self_seconds=0.8 * seconds)).counter("env_steps", 100 * seconds)


def test_a_steady_run_of_half_a_minute_is_not_doubted() -> None:
    assert codes(steady()) == []
    assert doubts_about(ppo_recording(), build_report(ppo_recording())) == ()


def test_a_short_run_is_doubted_with_a_remedy() -> None:
    recording = steady(1.5).build()
    (doubt,) = doubts_about(recording, build_report(recording))
    assert doubt.code == "short-run"
    assert "1.50 s of training" in doubt.message
    assert doubt.remedy


@pytest.mark.parametrize(("turns", "doubted"), [(1, True), (2, True), (3, False)])
def test_few_turns_of_the_loop_are_doubted(turns: int, doubted: bool) -> None:
    assert ("few-iterations" in codes(steady().iterations([30 / turns] * turns, env_steps=10))) is doubted


@pytest.mark.parametrize(
    ("durations", "doubted"),
    [
        ([10.0, 2.0, 2.0, 2.0], True),
        ([4.0, 1.0, 1.0, 1.0], False),
        ([10.0, 6.0, 6.0, 6.0], False),
    ],
    ids=["long", "not much of the run", "less than twice the others"],
)
def test_a_long_first_iteration_is_warm_up(durations: list[float], doubted: bool) -> None:
    assert ("warm-up" in codes(steady().iterations(durations, env_steps=10))) is doubted


@pytest.mark.parametrize(
    ("late", "doubted"),
    [(60.0, True), (160.0, True), (80.0, False), (140.0, False)],
    ids=["fell", "rose", "80%", "140%"],
)
def test_a_rate_that_changes_by_half_is_drift(late: float, doubted: bool) -> None:
    builder = a_recording(seconds=30.0).spans(span("env.step", self_seconds=24.0))
    builder.counter_slices("env_steps", [(t, t + 1.0, 100.0 if t < 15 else late) for t in range(30)])
    assert ("drift" in codes(builder)) is doubted


def core_use(cpu: float, busy: float, wait: float = 3.0) -> dict[str, Any]:
    start = {"at_ns": 0, "cpu_seconds": 0.0, "core_wait_ns": 0, "machine_busy_seconds": 0.0}
    now = {"at_ns": 30 * 10**9, "cpu_seconds": cpu, "core_wait_ns": wait * 1e9, "machine_busy_seconds": busy}
    return {**FACTS, "cores_usable": 4, "core_use_at_start": start, "core_use": now}


@pytest.mark.parametrize(("busy", "doubted"), [(30.0, False), (59.0, False), (61.0, True)])
def test_others_that_keep_a_quarter_of_the_cores_busy_are_said(busy: float, doubted: bool) -> None:
    assert ("machine-busy" in codes(steady(facts=core_use(cpu=30.0, busy=busy)))) is doubted


@pytest.mark.parametrize(("wait", "doubted"), [(10.0, False), (24.0, True)])
def test_a_main_thread_that_had_no_core_for_most_of_the_run_tells_little_of_its_course(
    wait: float, doubted: bool
) -> None:
    assert ("no-core" in codes(steady(facts=core_use(cpu=5.0, busy=50.0, wait=wait)))) is doubted


def test_growth_is_not_claimed_of_a_run_that_others_kept_from_its_core() -> None:
    assert "no-core" in next(rule for rule in RULES if rule.name == "cost-grows").doubted_by


def test_how_long_the_main_thread_waited_is_said_beside_them() -> None:
    recording = steady(facts=core_use(cpu=30.0, busy=90.0)).build()
    (doubt,) = doubts_about(recording, build_report(recording))
    assert "others kept 2.00 of the 4 cores busy" in doubt.message
    assert "the main thread waited 10.0% of the time for one" in doubt.message


@pytest.mark.parametrize(("quota", "throttled", "doubted"), [(1.5, 2.0, True), (1.5, 1.0, False), (None, 2.0, False)])
def test_a_quota_that_held_the_run_up_is_said(quota: float | None, throttled: float, doubted: bool) -> None:
    facts = core_use(cpu=30.0, busy=30.0)
    facts["core_use_at_start"]["throttled_seconds"], facts["core_use"]["throttled_seconds"] = 5.0, 5.0 + throttled
    assert ("cpu-throttled" in codes(steady(facts={**facts, "cpu_quota": quota}))) is doubted


def half_unattributed(seconds: float) -> Recording:
    half = seconds / 2
    builder = a_recording(seconds=seconds).spans(iteration(span("env.step", self_seconds=half), self_seconds=half))
    return builder.sample("iteration", 90, MINE).build()


def held(recording: Recording, doubted_by: frozenset[str] = frozenset()) -> list[str]:
    rules = (Rule("unattributed-high", unattributed_high, doubted_by=doubted_by),)
    report = build_report(recording)
    doubts = doubts_about(recording, report)
    kept, back = hold_back(advise(recording, report, rules), doubts, report, rules)
    assert len(kept) + len(back) == 1
    return [warning.message for warning in back]


def test_a_finding_that_the_recording_supports_stands() -> None:
    assert held(half_unattributed(30.0)) == []


def test_a_doubt_that_a_rule_is_sensitive_to_holds_its_finding_back() -> None:
    builder = a_recording(seconds=30.0).spans(iteration(span("env.step", self_seconds=15.0), self_seconds=15.0))
    recording = builder.sample("iteration", 90, MINE).iterations([15.0, 15.0]).build()
    assert held(recording) == []
    (message,) = held(recording, frozenset({"few-iterations"}))
    assert message.startswith("`unattributed-high` has a finding that is not shown (50.0% of the time")
    assert "turned only 2 times" in message


def test_a_gain_that_is_smaller_than_the_error_of_rlprofs_own_cost_is_held_back() -> None:
    builder = a_recording(seconds=30.0)
    builder.spans(iteration(span("env.step", self_seconds=26.0, charged_ns=11_000_000_000), self_seconds=4.0))
    (message,) = held(builder.sample("iteration", 90, MINE).build())
    assert "rlprof's own cost is known to 5.50 s only" in message


def a_short_run_with_a_straggler() -> Recording:
    steps = []
    for index in range(200):
        at = index * 4_000_000
        workers = (((at + 20_000, 1_800_000),), ((at + 20_000, 300_000),))
        steps.append(Step((at, 10_000), (at + 10_000, 1_990_000), workers))
    return recording_of(steps, seconds=0.9)


def test_what_is_held_back_is_a_warning_of_the_report_and_no_finding() -> None:
    report = complete_report(a_short_run_with_a_straggler())
    assert report.findings == ()
    (warning,) = [warning for warning in report.warnings if warning.code == "held-back"]
    assert "`straggler`" in warning.message
    assert "only 900 ms of training" in warning.message
    assert warning.remedy


def test_why_says_that_a_finding_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "open_recording", lambda path: a_short_run_with_a_straggler())
    result = CliRunner().invoke(command.report, ["run.rlprof", "--why", "straggler"])
    assert result.exit_code == 2
    assert "not shown" in result.stderr
    assert "only 900 ms of training" in result.stderr


def test_a_recording_without_spans_has_no_further_doubts() -> None:
    assert codes(a_recording(seconds=0.5)) == []
