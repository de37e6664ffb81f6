"""Names come from the recorded program. Whatever they hold, the page shows it and nothing of it runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.pages import a_finding, full_report, page_of, with_every_text, write_page

pytestmark = pytest.mark.browser

ATTACKS = {
    "script": "<script>window.pwned=1</script>",
    "end of the data": "</script><script>window.pwned=1</script>",
    "comment": "<!--<script>window.pwned=1//",
    "image": "<img src=x onerror=window.pwned=1>",
    "vector image": "<svg/onload=window.pwned=1>",
    "attribute": "\" onmouseover=window.pwned=1 style='position:fixed;inset:0' x='",
    "address": "javascript:window.pwned=1",
    "frame": "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "link out": "<a href='https://example.invalid/x'>click</a><link rel=stylesheet href=https://example.invalid/y>",
    "entity": "&lt;script&gt;window.pwned=1&lt;/script&gt;&#0;",
    "steering": "\x1b[31m\x1b]8;;http://example.invalid\x07\x00\x7f",
    "half a character": "\ud800 \udfff",
    "direction": "\u202egnp.exe \u2066 \u200b \ufeff",
    "line ends": "a\u2028b\u2029c\nd\re",
    "names of objects": "__proto__",
    "names of more objects": "constructor",
}


#: What a text may hold beside the others; the rest only means something by itself.
TOGETHER = " ".join(attack for name, attack in ATTACKS.items() if not name.startswith(("comment", "names")))


def nothing_happened(page: Any) -> None:
    assert page.evaluate("window.pwned") is None
    assert page.locator("#page img, #page iframe, #page script, #page object, #page embed, #page link").count() == 0
    assert page.locator("script").count() == 2
    assert page.evaluate("[...document.links].every(link => link.getAttribute('href').startsWith('#'))")


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))
def test_each_attack_by_itself_does_nothing(visit: Callable[..., Any], tmp_path: Path, attack: str) -> None:
    attack_every_text(visit, tmp_path, attack)


@pytest.mark.parametrize("attack", [TOGETHER, ATTACKS["comment"], "__proto__"], ids=["together", "comment", "proto"])
def test_an_attack_in_every_text_does_nothing_and_the_page_still_works(
    visit: Callable[..., Any], tmp_path: Path, attack: str
) -> None:
    attack_every_text(visit, tmp_path, attack)


def attack_every_text(visit: Callable[..., Any], tmp_path: Path, attack: str) -> None:
    report, figures = full_report()
    page = visit(write_page(tmp_path, page_of(*with_every_text((report, figures), lambda _: attack)))).page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    nothing_happened(page)
    assert page.locator("main section").count() == 14
    page.locator("#tree .box").nth(2).click()
    page.locator("#tree .box").first.hover()
    page.locator("table.operations button").first.click()
    page.get_by_label("Filter").fill(attack[:5].replace("\x00", ""))
    page.locator("#iterations button").last.click()
    page.get_by_role("slider", name="Moment of the run").hover()
    nothing_happened(page)


def test_an_attack_in_a_source_and_in_its_name_does_nothing(visit: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "<img src=x onerror=window.pwned=1>.py"
    source.write_bytes(
        b"</script><script>window.pwned=1</script>\n<img src=x onerror=window.pwned=1>\x00\x1b[31m\xff\n"
    )
    os.utime(source, (0, 0))
    report, figures = full_report()
    page = visit(write_page(tmp_path, page_of(replace(report, findings=(a_finding(str(source)),)), figures))).page
    page.locator("details.place summary").click()
    assert "</script><script>window.pwned=1</script>" in page.locator("#findings pre").inner_text()
    assert "onerror=window.pwned=1>.py:2" in page.locator("details.place summary").inner_text()
    nothing_happened(page)


def test_names_are_shown_as_they_are_or_spelled_out(visit: Callable[..., Any], tmp_path: Path) -> None:
    report, figures = full_report()
    odd = "<b>\x1b[31m\x00\ud800\u202e"
    page = visit(write_page(tmp_path, page_of(with_every_text(report, lambda _: odd), figures))).page
    assert page.get_by_role("heading", level=1).inner_text() == "<b>␛[31m␀\\ud800\\u202e"
    assert page.title() == "rlprof: <b>␛[31m␀\\ud800\\u202e"
