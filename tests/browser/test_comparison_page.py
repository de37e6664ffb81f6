"""The page of a comparison in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlprof.cli.pages import comparison_page
from rlprof.model.comparison import (
    Comparison,
    ComparisonWarning,
    Difference,
    MemoryRow,
    OperationRow,
    Overall,
    PhaseRow,
    Side,
    Speed,
)
from support.examples import HOSTILE
from support.pages import with_every_text, write_page

pytestmark = pytest.mark.browser


def a_comparison() -> Comparison:
    return Comparison(
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
        operations=(
            OperationRow(4e-5, 4e-5, 1.0, 0.98, 1.02, "same", 0.0, path=("update", "loss")),
            OperationRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, path=("rollout", "step")),
        ),
        memory=MemoryRow(300.0, 200.0, 1.5, 1.4, 1.6, "faster"),
        minimal_detectable=0.04,
        more_pairs_needed=0,
        margin=0.03,
        outliers=(),
        environment_differences=(
            Difference("python", "3.11", "3.12", False),
            Difference("arguments", "/home/ann/.venv/bin/python3 train.py", "/opt/python3 train.py --turbo", False),
        ),
        forced=False,
        stopped_early=False,
        left_out=(),
        other_load=None,
        warnings=(ComparisonWarning("busy", "others were busy", "compare again"),),
    )


def test_the_verdict_the_phases_and_the_operations_are_shown(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(write_page(tmp_path, comparison_page(a_comparison()))).page
    assert page.get_by_role("heading", level=1).inner_text().startswith("B is faster: 1.25x the speed of A")
    row = page.locator("#phases tbody tr").first.inner_text()
    assert all(text in row for text in ("env.step", "60.0 µs", "40.0 µs", "1.50x", "1.40x to 1.60x", "20.0%", "faster"))
    assert page.locator("#operations tbody th").all_inner_texts() == ["rollout / step", "update / loss"]
    page.locator("#operations").get_by_role("button", name="A", exact=True).click()
    assert page.locator("#operations tbody th").all_inner_texts() == ["update / loss", "rollout / step"]
    page.get_by_label("Filter").fill("faster")
    assert page.locator("#operations tbody th").all_inner_texts() == ["rollout / step"]
    conditions = page.locator("#conditions").inner_text()
    assert "python: 3.11 with A, 3.12 with B" in conditions
    assert "arguments: python3 train.py with A, python3 train.py --turbo with B" in conditions


@pytest.mark.parametrize("width", [390, 1024, 1600])
def test_no_size_of_screen_scrolls_sideways(visit: Callable[..., Any], tmp_path: Path, width: int) -> None:
    page = visit(write_page(tmp_path, comparison_page(a_comparison())), width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_are_shown_and_do_nothing(visit: Callable[..., Any], tmp_path: Path) -> None:
    words = {"faster", "slower", "same", "cannot-tell", "run", "env step"}
    hostile = with_every_text(a_comparison(), lambda text: text if text in words else HOSTILE)
    page = visit(write_page(tmp_path, comparison_page(hostile))).page
    assert "<script>alert(1)</script>" in page.locator("#phases tbody th").first.inner_text()
    assert page.locator("script").count() == 2
