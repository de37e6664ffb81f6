"""The page against the rules of WCAG that a program can check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.pages import full_report, page_of, write_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_rule_of_accessibility_is_broken(visit: Callable[..., Any], tmp_path: Path, scheme: str, width: int) -> None:
    if not AXE.exists():
        pytest.skip("the checker of accessibility is not installed: npm ci --prefix web")
    page = visit(write_page(tmp_path, page_of(*full_report())), scheme=scheme, width=width).page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    broken = [(rule["id"], [node["html"][:200] for node in rule["nodes"][:3]]) for rule in found["violations"]]
    assert broken == []
