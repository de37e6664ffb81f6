"""How a comparison reads: on a terminal, as JSON, in a pull request."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from rlprof.model.comparison import (
    Comparison,
    ComparisonWarning,
    Difference,
    LeftOut,
    MemoryRow,
    OperationRow,
    Outlier,
    Overall,
    PhaseRow,
    Side,
    Speed,
)
from rlprof.render import comparison_words as words
from rlprof.render.comparison_markdown import render_comparison_markdown
from rlprof.render.comparison_terminal import render_comparison, render_comparison_text
from rlprof.render.json import render_json
from support.examples import HOSTILE


def a_comparison(**changes: Any) -> Comparison:
    found = Comparison(
        schema=1,
        baseline=Side("train.py", ("a.rlprof",)),
        candidate=Side("train.py --turbo", ("b.rlprof",)),
        pairs=10,
        unit="run",
        per="env step",
        overall=Overall(1.25, 1.2, 1.3, "faster", 1e-4, 8e-5, 0.95, 0.3),
        sps=Speed(10_000.0, 12_500.0),
        phases=(
            PhaseRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, phase="env.step"),
            PhaseRow(4e-5, 4e-5, 1.0, 0.98, 1.02, "same", 0.0, phase="learn.loss"),
            PhaseRow(0.0, 1e-6, None, None, None, "slower", -0.01, phase="log"),
        ),
        operations=(OperationRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, path=("rollout", "step")),),
        memory=MemoryRow(300.0, 200.0, 1.5, 1.4, 1.6, "faster"),
        minimal_detectable=0.04,
        more_pairs_needed=0,
        margin=0.03,
        outliers=(),
        environment_differences=(),
        forced=False,
        stopped_early=False,
        left_out=(),
        other_load=None,
        warnings=(),
    )
    return replace(found, **changes)


def unclear(**changes: Any) -> Comparison:
    overall = Overall(1.02, 0.95, 1.1, "cannot-tell", 1e-4, 9.8e-5, 0.95, 0.1)
    return a_comparison(overall=overall, more_pairs_needed=23, minimal_detectable=0.08, **changes)


def test_a_verdict_is_the_first_thing_said() -> None:
    text = render_comparison_text(a_comparison())
    assert "B is faster: 1.25x the speed of A (1.20x to 1.30x, 95% sure)" in text
    assert "10,000 steps/s with A, 12,500 steps/s with B." in text
    assert "300 MB peak with A, 200 MB with B: less" in text
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert " ".join(lines["env.step"].split()) == "env.step 60.0 µs 40.0 µs 1.50x 1.40x to 1.60x 20.0% faster"
    assert "new" in lines["log"]


def test_no_difference_says_how_small_one_would_have_been_seen() -> None:
    same = Overall(1.001, 0.99, 1.012, "same", 1e-4, 1e-4, 0.95, 0.012)
    assert "No difference larger than 1.2% (95% sure)" in render_comparison_text(a_comparison(overall=same))


def test_cannot_tell_says_what_fits_and_what_it_would_take() -> None:
    text = render_comparison_text(unclear())
    assert "Cannot tell" in text
    assert "anything from 0.950x to 1.10x fits" in text
    assert "10 such pairs find differences of 8.0% or more." in text
    assert "About 23 more pairs would tell." in text
    assert "at least 3 more pairs" in render_comparison_text(unclear(pairs=2))
    assert "at least 1 more pair." in render_comparison_text(unclear(pairs=4))
    assert "About 1 more pair would tell." in render_comparison_text(replace(unclear(), more_pairs_needed=1))


def test_doubts_are_said() -> None:
    found = a_comparison(
        environment_differences=(Difference("host", "x", "y", True),),
        forced=True,
        outliers=(Outlier(3, 0.5),),
        left_out=(LeftOut("b-004.rlprof", "failed with exit code 1"),),
        other_load=0.4,
        stopped_early=True,
        warnings=(ComparisonWarning("busy-machine", "others work here", "wait"),),
    )
    for text in (render_comparison_text(found), render_comparison_markdown(found).replace("\\", "")):
        for said in ("--force", "host: x with A, y with B", "pair 3 at 0.50x", "b-004.rlprof: failed with exit code 1",
                     "others used 40.0% of the machine", "Stopped early", "busy-machine", "wait"):  # fmt: skip
            assert said in text


def test_json_keeps_the_contract_and_holds_no_made_up_number() -> None:
    data = json.loads(render_json(unclear()))
    assert {"schema", "pairs", "unit", "overall", "phases", "minimal_detectable", "more_pairs_needed",
            "environment_differences", "warnings"} <= data.keys()  # fmt: skip
    assert {"ratio", "low", "high", "verdict"} <= data["overall"].keys()
    row = {"phase", "baseline_seconds", "candidate_seconds", "ratio", "low", "high", "verdict"}
    assert row <= data["phases"][0].keys()
    assert data["phases"][2]["ratio"] is None
    assert data["overall"]["verdict"] == "cannot-tell"


def test_a_pull_request_reads_whether_there_is_a_regression() -> None:
    assert render_comparison_markdown(a_comparison()).startswith("## rlprof: comparison")
    assert render_comparison_markdown(a_comparison(), []).startswith("## rlprof: no regression")
    said = render_comparison_markdown(a_comparison(), ["phase env.step takes longer by 9%"])
    assert said.startswith("## rlprof: regression\n\n- **phase env.step takes longer by 9%**")
    assert "| `env.step` | 60.0 µs | 40.0 µs | 1.50x | 1.40x to 1.60x | 20.0% | faster |" in said


@pytest.mark.parametrize("width", [80, 120])
def test_lines_stay_within_the_terminal_and_names_stay_harmless(width: int) -> None:
    row = OperationRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, path=(HOSTILE, HOSTILE * 5))
    found = a_comparison(
        baseline=Side(HOSTILE * 9, ()),
        operations=(row,),
        phases=(PhaseRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, phase=HOSTILE),),
        environment_differences=(Difference(HOSTILE, HOSTILE, HOSTILE, False),),
        left_out=(LeftOut(HOSTILE, HOSTILE),),
        warnings=(ComparisonWarning(HOSTILE, HOSTILE, HOSTILE),),
    )
    stream = io.StringIO()
    render_comparison(found, Console(file=stream, width=width, color_system=None, legacy_windows=False))
    drawn = stream.getvalue()
    assert max(map(len, drawn.splitlines())) <= width
    assert not any(bad in drawn for bad in ("\x1b", "\x00", "\u202e", "\ud800"))
    outside_code = re.sub(r"(`+).+?\1(?!`)", "", render_comparison_markdown(found))
    assert not re.search(r"(?<!\\)<(?!!-- -->)", outside_code)
    json.loads(render_json(found))


def test_an_output_without_line_characters_gets_plain_ones() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    render_comparison(a_comparison(), Console(file=stream, width=80, color_system=None))
    stream.flush()
    assert b"60.0 us" in raw.getvalue()


@pytest.mark.parametrize(("low", "high"), [(1e-9, 2.0), (0.5, 4e18), (0.5, 100.0)])
def test_an_interval_that_says_nothing_has_no_digits(low: float, high: float) -> None:
    assert words.interval(low, high) == words.short_interval(low, high) == "anything"


def test_a_narrow_interval_keeps_both_ends() -> None:
    assert words.interval(0.9412, 1.256) == "0.941x to 1.26x"
    assert words.short_interval(0.9412, 1.256) == "0.941-1.26x"
