"""Doubts about a recording are values with a remedy."""

from __future__ import annotations

import pytest

from rlprof.analyse.report import build_report
from rlprof.model.recording import RecordedWarning
from rlprof.model.report import ReportWarning
from support.examples import ppo_recording
from support.recordings import FACTS, RecordingBuilder, a_child, a_recording, span


def warnings(builder: RecordingBuilder) -> dict[str, ReportWarning]:
    return {warning.code: warning for warning in build_report(builder.build()).warnings}


def working(**changes: object) -> RecordingBuilder:
    builder = a_recording(seconds=10.0, **changes)
    builder.spans(span("env.step", count=1000, self_seconds=9.0))
    return builder


def test_a_healthy_run_raises_no_doubt() -> None:
    assert warnings(working()) == {}


def test_the_only_note_on_a_run_without_a_device_says_how_the_score_was_made() -> None:
    assert [warning.code for warning in build_report(ppo_recording()).warnings] == ["note-no-device"]


def test_a_run_without_spans_is_told_how_to_mark_them() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans()
    assert "rlprof.profile(" in warnings(builder)["no-spans"].remedy


def test_high_overhead_names_the_span_that_is_entered_too_often() -> None:
    builder = working()
    builder.cost(inside=500_000.0, outside=100_000.0)
    found = warnings(builder)["overhead-high"]
    assert "5.0%" in found.message or "6.0%" in found.message
    assert "env.step" in found.remedy


def test_high_overhead_of_helpers_points_to_their_options() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(span("env.step", self_seconds=9.0, charged_ns=900_000_000))
    assert "--sampler-hz" in warnings(builder)["overhead-high"].remedy


def test_losses_are_summed_and_shown() -> None:
    builder = working()
    builder.losses(spans_dropped=5)
    child = a_child(seconds=1.0).losses(spans_dropped=7)
    child.spans(span("env.step", self_seconds=1.0))
    builder.child(child)
    report = build_report(builder.build())
    assert report.losses == {"spans_dropped": 12}
    assert "12 spans that were closed but never written" in {w.code: w.message for w in report.warnings}["losses"]


@pytest.mark.parametrize(("status", "code"), [("running", "still-running"), ("killed", "killed")])
def test_a_run_that_did_not_end_says_so(status: str, code: str) -> None:
    assert code in warnings(working(status=status))


def test_processes_that_did_not_end_are_counted() -> None:
    builder = working()
    for status in ("completed", "killed", "running"):
        child = a_child(seconds=5.0, status=status)
        child.spans(span("env.step", self_seconds=5.0))
        builder.child(child)
    assert warnings(builder)["unfinished-processes"].message.startswith("2 of 3 child processes")


def test_a_wall_clock_that_was_set_is_mentioned() -> None:
    found = warnings(working(facts={**FACTS, "wall_drift_seconds": -3600.0}))
    assert "1h 00m" in found["clock-jump"].message
    assert warnings(working(facts={**FACTS, "wall_drift_seconds": 0.01})) == {}


def test_what_the_recorder_warned_of_is_passed_on_once() -> None:
    builder = working(recording_notes=[RecordedWarning("unmerged", "parts", "merge")])
    builder.warning("probe-off", "a probe failed", "look")
    child = a_child(seconds=1.0).warning("probe-off", "a probe failed", "look")
    child.spans(span("env.step", self_seconds=1.0))
    report = build_report(builder.child(child).build())
    assert [warning.code for warning in report.warnings] == ["unmerged", "probe-off"]


def test_losses_of_the_programs_own_making_point_to_the_program() -> None:
    builder = working()
    builder.losses(exits_unmatched=3)
    assert "the program" in warnings(builder)["losses"].remedy
