"""The page of `rlprof watch --web` in a real browser: it moves with the run, keeps to itself, and obeys no name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.live_support import open_page
from support.watched import enough, page_of, training

pytestmark = pytest.mark.browser

SIZES = ((1280, 900), (768, 1024), (360, 740))  # a desk, a tablet, a phone


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One training for all tests; the last of them ends it."""
    with training(tmp_path_factory.mktemp("live")) as target:
        yield target


def text(page: Any, selector: str) -> str:
    found: str = page.text_content(selector)
    return found


def first_drawn(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#phases tr")


def test_the_page_fits_every_window_and_can_be_read_in_both_lights(chromium: Any, run: Path) -> None:
    with page_of(run) as address:
        for scheme, (width, height) in itertools.product(["light", "dark"], SIZES):
            viewport = {"width": width, "height": height}
            page, noted = open_page(chromium, viewport=viewport, color_scheme=scheme)
            first_drawn(page, address)
            wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wider <= 0, (scheme, width)
            assert page.evaluate(CONTRAST) == [], (scheme, width)
            assert noted.complaints == []
            page.close()


#: Texts whose contrast with the ground below them is less than 4.5 to 1.
CONTRAST = """() => {
    const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => {
        const straight = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const linear = [r, g, b].map((v) => straight(v / 255));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const ground = (it) => {
        for (; it; it = it.parentElement) {
            const colour = parse(getComputedStyle(it).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const own = (it) => [...it.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    return [...document.body.querySelectorAll("*")].filter((it) => own(it) && it.offsetParent).filter((it) => {
        const [a, b] = [light(parse(getComputedStyle(it).color)), light(ground(it))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((it) => it.outerHTML.slice(0, 100));
}"""


def test_a_page_whose_server_has_gone_says_so_and_keeps_what_it_has(chromium: Any, run: Path) -> None:
    with page_of(run) as address:
        page, noted = open_page(chromium)
        first_drawn(page, address)
    page.wait_for_function("() => document.querySelector('#note').textContent.includes('does not answer')")
    assert page.locator("#phases tr").count() >= 3
    assert noted.outside(address) == []
    page.close()


def test_the_page_moves_with_the_run_says_its_end_and_stays_usable(chromium: Any, run: Path) -> None:
    with page_of(run) as address:
        page, noted = open_page(chromium)
        first_drawn(page, address)
        assert text(page, "#status") == "running"
        steps = "dl div:has(dt:text-is('env steps')) dd"
        before = text(page, steps)
        page.wait_for_function("([it, was]) => document.querySelector(it).textContent !== was", arg=[
            "#figures div:nth-child(3) dd", before,
        ])  # fmt: skip
        assert int(text(page, steps).replace(",", "")) > int(before.replace(",", ""))
        assert "steps/s" in page.title()
        names = page.locator("#phases th").all_text_contents()
        assert {"env.step", "learn.loss", "unattributed"} <= set(names)
        assert page.locator("#shares polygon").count() == len(names)
        assert page.locator("#speed polyline, #memory polyline").count() == 2

        # No name has become markup, and none was obeyed.
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, iframe, object, form").count() == 0
        assert "<img src=x onerror=alert(1)>.py" in text(page, "h1")

        enough(run.parent)
        page.wait_for_selector("#status.completed")
        assert "The run has ended" in text(page, "#note")
        page.focus("#back")
        page.keyboard.press("Home")
        assert "the newest" not in text(page, "#back-said")
        assert text(page, "#then") == f"at {text(page, '#back-said')}"
        page.keyboard.press("End")
        assert "the newest" in text(page, "#back-said")

        assert noted.complaints == []
        assert noted.outside(address) == []
        assert len([url for url in noted.requests if url.endswith("state.json")]) >= 2
