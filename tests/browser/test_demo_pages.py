"""The pages of the demos that the docs show: they open, say what the demo is for, and name no folder of any machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlprof.cli.demo import DEMOS

pytestmark = pytest.mark.browser

PAGES = Path(__file__).resolve().parents[2] / "docs" / "demos" / "reports"
LARGEST_BYTES = 1_000_000
#: Where people's files are; what is installed is named from its package on.
SOMEBODYS = re.compile(r"(?<![\w.~])(?:/(?:home|root|work|tmp|srv|opt|mnt|data|Users)/|[A-Z]:\\\\)")


def test_each_demo_has_one() -> None:
    assert {page.stem for page in PAGES.glob("*.html")} == set(DEMOS)


@pytest.mark.parametrize("name", DEMOS)
def test_a_page_opens_and_is_small_and_about_no_machine(visit: Callable[..., Any], name: str) -> None:
    file = PAGES / f"{name}.html"
    assert file.stat().st_size < LARGEST_BYTES
    page = visit(file.as_uri()).page
    assert f"demo {name}" in page.get_by_role("heading", level=1).inner_text()
    assert page.locator("#findings .verdict").inner_text()
    found = SOMEBODYS.search(page.locator("#payload").text_content() or "")
    assert found is None, found


def test_the_teachers_page_has_its_windows_its_rollouts_and_what_was_expected(visit: Callable[..., Any]) -> None:
    page = visit((PAGES / "teacher.html").as_uri()).page
    assert "torch.profiler" in page.locator("#windows").inner_text()
    assert page.locator("#windows details").count() >= 3
    told = page.locator("#rollouts").inner_text()
    assert all(word in told for word in ("student forward", "agent calls", "1,500 to 2,500", "2,500 to 4,500"))
