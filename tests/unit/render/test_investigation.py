"""How an investigation reads: on a terminal, as JSON, in a pull request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from rlprof.model.comparison import ComparisonWarning
from rlprof.model.investigation import ActionItem, Combination, Investigation, NotCombined
from rlprof.render import investigation_words as words
from rlprof.render.investigation_markdown import render_investigation_markdown
from rlprof.render.investigation_terminal import render_investigation, render_investigation_text
from rlprof.render.json import investigation_schema, render_json
from support.examples import HOSTILE
from support.investigations import a_hypothesis, a_measurement, a_result


def an_investigation(**changes: Any) -> Investigation:
    cure = a_hypothesis("flood fill", expect=1.5)
    team = Combination(
        name="all cures",
        members=("flood fill", "push"),
        left_out=(NotCombined("no training", "shows where the time is, and is no cure"),),
        expected=10.0,
        changes_learning=True,
        command="train.py --flood-fill vectorised",
        environment={"A": "1"},
        treatments=("threads=1",),
        verdict="confirmed",
        expectation="exceeded",
        measured=a_measurement(12.0, 11.0, 13.0),
        notes=(),
    )
    found = Investigation(
        schema=1,
        plan="plan.toml",
        directory="exp",
        baseline="train.py",
        hypotheses=(
            a_result(cure, "confirmed", a_measurement(), expectation="met"),
            a_result(a_hypothesis("push", expect=3.0), "confirmed", a_measurement(), expectation="short"),
            a_result(a_hypothesis("colour"), "refuted", a_measurement(1.0, 0.99, 1.01)),
            a_result(a_hypothesis("noisy"), "cannot-tell", a_measurement(1.1, None, None, pairs=1)),
            a_result(a_hypothesis("lazy"), "less-work", a_measurement(), notes=("env steps: 50 instead of 100, -50%",)),
            a_result(a_hypothesis("broken"), "failed", notes=("failed with exit code 1",)),
            a_result(a_hypothesis("open"), "untested", notes=("fill in the option",)),
        ),
        combinations=(team,),
        actions=(ActionItem(1, "flood fill", "search all boards at once", 1.5, 4.0, False, ""),),
        runs=60,
        seconds=600.0,
        interrupted=False,
        budget_spent=True,
        other_load=0.2,
        warnings=(ComparisonWarning("busy-machine", "others used 20%", "use a quiet one"),),
    )
    return replace(found, **changes)


def test_the_table_holds_what_was_expected_against_what_was_measured() -> None:
    text = render_investigation_text(an_investigation())
    assert "7 hypotheses: 2 confirmed, 1 refuted, 1 cannot tell, 1 does less work, 1 failed, 1 not tested" in text
    assert "All cures together: 12x as fast (11x to 13x); a whole run 1.30x" in text
    rows = {line.split("  ")[0]: line for line in reversed(text.splitlines())}  # the table is above what is said of it
    assert rows["flood fill"].split()[2:] == ["1.50x", "1.50x", "1.40-1.60x", "1.30x", "confirmed"]
    assert rows["push"].endswith("confirmed, below expected")
    assert rows["all cures"].endswith("confirmed, above expected")
    assert rows["lazy"].endswith("does less work")
    assert "env steps: 50 instead of 100, -50%" in text
    assert "without no training: shows where the time is, and is no cure" in text
    assert "1. flood fill (1.50x): search all boards at once" in text


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_it_fits_its_terminal(width: int) -> None:
    console = Console(width=width, record=True, file=None, force_terminal=False, color_system=None)
    with console.capture() as capture:
        render_investigation(an_investigation(), console)
    assert max(len(line) for line in capture.get().splitlines()) <= width


def test_json_keeps_to_its_schema() -> None:
    found = json.loads(render_json(an_investigation()))
    jsonschema.validate(found, investigation_schema())
    assert found["hypotheses"][3]["measured"]["low"] is None
    assert found["combinations"][0]["members"] == ["flood fill", "push"]


def test_markdown_is_for_a_pull_request() -> None:
    text = render_investigation_markdown(an_investigation())
    assert text.startswith("## rlprof: investigation\n")
    assert "| `flood fill` | 1.50x | 1.50x | 1.40x to 1.60x | 1.30x | 6 | confirmed |" in text


def test_hostile_names_steer_neither_a_terminal_nor_a_page() -> None:
    bad = a_hypothesis(HOSTILE, because=HOSTILE)
    found = an_investigation(
        plan=HOSTILE,
        baseline=HOSTILE,
        directory=HOSTILE,
        hypotheses=(a_result(bad, "failed", notes=(HOSTILE,), command=HOSTILE),),
        actions=(ActionItem(1, HOSTILE, HOSTILE, None, 1.0, False, HOSTILE),),
        combinations=(),
    )
    text = render_investigation_text(found)
    assert "\x1b" not in text
    assert "\x00" not in text
    marked = render_investigation_markdown(found)
    assert "<script>" not in marked.replace("`", "") or "\\<script" in marked
    assert "\x1b" not in marked
    json.loads(render_json(found))


def test_nothing_is_said_about_a_baseline_that_was_not_measured() -> None:
    untested = an_investigation(hypotheses=(a_result(a_hypothesis(), "untested"),), combinations=())
    assert words.baseline_line(untested) is None
    assert words.best(untested) is None
    assert words.headline(untested) == "1 hypothesis: 1 not tested"
