"""Figures of a device out of a recording that may come from anybody."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from rlprof.advise.report import complete_report
from rlprof.analyse.page import page_figures
from rlprof.model.recording import Recording
from rlprof.render.text import render_text
from support.pages import a_device, page_of
from support.recordings import a_recording, span


def recorded(device: Any) -> Recording:
    return a_recording(seconds=10.0, facts={"device": device}).spans(span("env.step", self_seconds=5.0)).build()


def test_figures_of_an_importer_are_kept() -> None:
    assert complete_report(recorded(a_device())).device == a_device()


DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no figure": lambda found: found.clear(),
    "a share that is a text": lambda found: found.update(idle_share="x"),
    "endless": lambda found: found.update(busy_seconds=float("inf")),
    "below zero": lambda found: found.update(span_seconds=-1.0),
    "kernels that are a number": lambda found: found.update(kernels=5),
    "a kernel that is a number": lambda found: found.update(top_kernels=[1]),
    "copies in a list": lambda found: found.update(memcpy=[1]),
    "a wait without its time": lambda found: found.update(syncs={"cudaStreamSynchronize": {"count": 1}}),
    "a device without figures": lambda found: found.update(devices={"0": {}, "1": {}}),
}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE.keys())
def test_figures_that_are_not_whole_count_for_nothing(harm: Callable[[dict[str, Any]], Any]) -> None:
    found = copy.deepcopy(dict(a_device()))
    harm(found)
    recording = recorded(found)
    report = complete_report(recording)
    assert report.device is None
    assert "Device" not in render_text(report)
    page_of(report, page_figures(recording, report))
