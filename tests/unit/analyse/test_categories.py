"""The time of an annotated program by category."""

from __future__ import annotations

import pytest

from rlprof.analyse.categories import categories_of
from rlprof.analyse.report import build_report
from rlprof.model.report import Report
from rlprof.render.categories import category_lines
from support.recordings import a_recording, span


def a_report() -> Report:
    network = span("forward pass", span("conv encoder", self_seconds=1.0), self_seconds=0.5)
    collecting = span("gc generation 2", phase="gc", self_seconds=0.25)
    acting = span("policy forward", network, span("sampling", self_seconds=0.5), phase="policy.forward",
                  self_seconds=0.25)  # fmt: skip
    learning = span("forward pass", collecting, self_seconds=2.0)
    drawing = span("rendering", span("draw walls", self_seconds=1.0), phase="env.render", self_seconds=0.5)
    recording = (
        a_recording(seconds=20)
        .spans(
            span("env.step", drawing, self_seconds=0.75),
            acting,
            span("loss", learning, phase="learn.loss", self_seconds=1.0),
            span("backward", phase="learn.backward", self_seconds=3.0),
            span("buffer.add", self_seconds=0.25),
            span("something", self_seconds=1.0),
        )
        .spans(span("env.step", self_seconds=3.0), thread="another")
    )
    return build_report(recording.build())


def test_categories_add_up_to_the_wall_clock() -> None:
    found = categories_of(a_report())
    assert [(entry.name, entry.seconds) for entry in found] == [
        ("environment", 0.75),
        ("rendering", 1.5),
        ("model", 3.5),
        ("policy", 0.75),
        ("training", 4.25),
        ("everything else", pytest.approx(20.0 - 10.75)),
    ]
    assert sum(entry.share for entry in found) == pytest.approx(1.0)


def test_each_has_a_line_with_a_bar() -> None:
    lines = list(category_lines(categories_of(a_report()), plain=True))
    assert lines[2] == "rendering          1.50 s    7.5%  ###"
    assert len(lines) == 7
