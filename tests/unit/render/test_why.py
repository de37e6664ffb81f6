"""A finding's evidence in full, as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from rlprof.advise.report import complete_report
from rlprof.model.report import Finding
from rlprof.render.why import render_why, shown
from support.examples import HOSTILE, busy_recording


def drawn(finding: Finding, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_why(finding, Console(file=stream, width=width, color_system=None, legacy_windows=False, _environ={}))
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.fixture
def finding() -> Finding:
    return complete_report(busy_recording()).findings[0]


def test_every_figure_stands_with_its_name_and_unit(finding: Finding) -> None:
    text = drawn(finding, 120)
    assert "is in no span" in text
    assert "  unattributed        37.0 s" in text
    assert "  unattributed share  30.8%" in text
    assert "  startup             -" in text
    assert "  samples             500" in text
    assert "/home/ann/project/goals.py" in text


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(finding: Finding, width: int) -> None:
    assert max(cell_len(line) for line in drawn(finding, width).splitlines()) <= width


def test_hostile_evidence_steers_nothing(finding: Finding) -> None:
    evidence = {HOSTILE: HOSTILE, "list": [HOSTILE], "rows": [{HOSTILE: HOSTILE}], "map": {HOSTILE: {HOSTILE: 1}}}
    for encoding in ("utf-8", "ascii"):
        text = drawn(replace(finding, evidence=evidence), encoding=encoding)
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("step_seconds", 0.0012, "1.20 ms"),
        ("seconds_per_env_step", 0.0012, "1.20 ms"),
        ("share", 0.125, "12.5%"),
        ("observation_bytes", 84_000, "84.0 kB"),
        ("rss_mb", 1500.0, "1.50 GB"),
        ("speed_ratio", 1.5, "1.50x"),
        ("predicted_sps", 1234.0, "1,234 steps/s"),
        ("workers", 12345, "12,345"),
        ("line", 12345, "12345"),
        ("slope", 0.5, "0.50"),
        ("steady", True, "yes"),
        ("cause", None, "-"),
        ("phases", ["env.step", "env.reset"], "env.step, env.reset"),
        ("phases", [], "-"),
        ("parts", {"a_seconds": 1.0}, "a_seconds 1.00 s"),
    ],
)
def test_the_unit_of_a_value_follows_from_its_name(name: str, value: object, text: str) -> None:
    assert shown(name, value) == text
