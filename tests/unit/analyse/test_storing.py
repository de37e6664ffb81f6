"""A statement that stores counts whole, as far as samples of its line say; nothing is added or lost."""

from __future__ import annotations

import pytest

from rlprof.analyse.report import build_report
from rlprof.model.kinds import PROBE, SITE
from rlprof.model.report import Report
from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

LINE = "tensor[i] = ppo/train.py:40"
STORING = FrameSpec("train", "/home/ann/ppo/train.py", 40)
CONVERTING = FrameSpec("tensor", "/venv/lib/python3.11/site-packages/torch/functional.py", 7)
OTHER_LINE = FrameSpec("train", "/home/ann/ppo/train.py", 41)
OTHER_FILE = FrameSpec("train", "/home/ann/ppo/other.py", 40)


def collecting(phase: str | None = None) -> RecordingBuilder:
    """Ten seconds of which two are in a storing line's span and eight in the span around it."""
    site = span(LINE, self_seconds=2.0, phase="buffer.add", kind=SITE)
    return a_recording(seconds=10.0).spans(span("collecting", site, self_seconds=8.0, phase=phase, kind=PROBE))


def seconds(report: Report) -> dict[str, float]:
    return {entry.phase: entry.seconds for entry in report.phases}


def test_what_leads_up_to_a_store_is_moved_to_it_by_the_samples_of_its_line() -> None:
    builder = collecting().sample("collecting", 30, STORING).sample("collecting", 10, STORING, CONVERTING)
    report = build_report(builder.sample("collecting", 40, OTHER_LINE).sample("collecting", 20, OTHER_FILE).build())
    assert seconds(report) == {"buffer.add": pytest.approx(2 + 0.4 * 8), "other": pytest.approx(0.6 * 8)}
    assert report.ledger.attributed_seconds == pytest.approx(10.0)
    drilled = {part.part: part for part in report.drilldown or ()}
    assert (drilled["buffer.add"].samples, drilled["other"].samples) == (40, 60)
    assert [line.line for line in drilled["buffer.add"].lines] == [40]


def test_a_handful_of_samples_moves_nothing() -> None:
    report = build_report(collecting().sample("collecting", 19, STORING).build())
    assert seconds(report)["buffer.add"] == pytest.approx(2.0)


def test_time_that_has_a_phase_keeps_it() -> None:
    report = build_report(collecting("policy.forward").sample("collecting", 100, STORING).build())
    assert seconds(report) == {"buffer.add": pytest.approx(2.0), "policy.forward": pytest.approx(8.0)}
