"""What the live page gets: JSON without surprises, axes that end on round numbers, files that fetch nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from rlprof.analyse.course_so_far import course_so_far
from rlprof.analyse.over_time import moments
from rlprof.analyse.report import build_report
from rlprof.render.live_page import FILES, live_state, page_file, round_above
from support.recordings import a_recording, span

HOSTILE = "</script><script>alert(1)</script>\x1b[31m\ud800\x00"


def test_the_state_is_plain_json_whatever_the_names() -> None:
    recording = a_recording(seconds=2.0, command=(HOSTILE,)).spans(span(HOSTILE, self_seconds=1.0)).build()
    report = replace(build_report(recording), verdict=HOSTILE)
    text = live_state(report, course_so_far(recording, report, list(moments(recording))), goes_on=True)
    state = json.loads(text)
    assert text.isascii()
    assert "\x1b" not in state["advice"]["verdict"]
    assert "\x00" not in state["command"]
    assert state["charts"]["speed"] is None


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.7, 0.8), (1, 1), (1.01, 1.5), (99, 100), (240, 250), (7.9e6, 8e6)]
)
def test_an_axis_ends_on_the_next_round_number(value: float, top: float) -> None:
    assert round_above(value) == pytest.approx(top)


def test_the_script_sets_text_and_never_markup() -> None:
    script = page_file("live.js")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|\.href|\.src\b", script)


def test_the_page_has_no_inline_script_style_or_handler() -> None:
    page = page_file("live.html")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", page)
    assert set(re.findall(r'(?:href|src)="([^"]+)"', page)) <= set(FILES)
