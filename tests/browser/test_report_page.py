"""The page of a report in a real browser: everything is there, everything answers, nothing leaves the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from support.pages import full_report, page_of, write_page

pytestmark = pytest.mark.browser

SECTIONS = {
    "findings": "Findings",
    "ledger": "Where the time went",
    "course": "Over time",
    "rollouts": "Rollouts",
    "tree": "Call tree",
    "operations": "Operations",
    "code": "Functions and lines",
    "lanes": "Processes",
    "memory": "Memory",
    "windows": "Windows",
    "device": "Device",
    "whatif": "What if",
    "iterations": "Slowest iterations",
    "trust": "What to doubt",
}
SOURCE = "def integrate(self):\n    return self.mass * self.speed\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    source = folder / "arm.py"
    source.write_text(SOURCE)
    os.utime(source, (0, 0))  # older than the run
    return write_page(folder, page_of(*full_report(str(source))))


def names(page: Any, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_inner_texts()]


def test_every_section_is_there_in_its_order_and_can_be_jumped_to(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    assert names(page, "main h2") == list(SECTIONS.values())
    assert names(page, "nav a") == list(SECTIONS.values())
    for identity, title in SECTIONS.items():
        assert page.get_by_role("region", name=title, exact=True).first.is_visible()
        assert page.locator(f"nav a[href='#{identity}']").count() == 1
    assert page.get_by_role("banner").count() == 1
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("heading", level=1).inner_text() == "train.py --envs 8"


def test_the_verdict_and_the_findings_come_first(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    first = page.locator("#findings")
    assert "environment" in first.locator(".verdict").inner_text()
    finding = first.locator("article").first
    assert "Arm.integrate takes 27% of the time" in finding.inner_text()
    assert finding.locator(".severity").inner_text().lower() == "critical"
    assert finding.locator(".gain").inner_text() == "at most 1.38x"
    assert "rlprof run train.py --envs 8" in finding.inner_text()
    assert not finding.get_by_text("samples").first.is_visible()
    finding.get_by_text("Evidence").click()
    assert finding.get_by_role("rowheader", name="samples").is_visible()
    finding.locator("details.place summary").click()
    assert "return self.mass * self.speed" in finding.locator("pre").inner_text()


def test_the_shares_of_the_ledger_are_those_of_the_report(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    report, _ = full_report()
    shown = dict(zip(names(page, "#ledger tbody th"), names(page, "#ledger tbody td:nth-of-type(2)"), strict=True))
    for entry in report.phases:
        assert shown[entry.phase] == f"{entry.share * 100:.1f}%"
    spoken = page.locator("#ledger [role=img]").get_attribute("aria-label")
    assert all(f"{name} {share}" in spoken for name, share in shown.items())


def test_operations_sort_by_any_column_both_ways(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    table = page.locator("table.operations")
    largest = table.locator("tbody th").first.inner_text()
    assert largest.endswith("physics")
    table.get_by_role("button", name="calls").click()
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("calls")
    calls = [int(text.replace(",", "")) for text in names(page, "table.operations tbody td:nth-of-type(3)")]
    assert calls == sorted(calls, reverse=True)
    table.get_by_role("button", name="calls").press("Enter")
    calls = [int(text.replace(",", "")) for text in names(page, "table.operations tbody td:nth-of-type(3)")]
    assert calls == sorted(calls)
    table.get_by_role("button", name="operation").click()
    paths = names(page, "table.operations tbody th")
    assert paths == sorted(paths)


def test_operations_are_filtered_by_what_is_typed(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    page.get_by_label("Filter").fill("LEARN backward")
    assert [path.split(" / ")[-1] for path in names(page, "table.operations tbody th")] == ["backward"]
    assert page.locator("#operations [role=status]").inner_text().startswith("1 of ")
    page.get_by_label("Filter").fill("no such thing")
    assert names(page, "table.operations tbody th") == []


def width_of(page: Any, name: str) -> float:
    box = page.get_by_role("tree").first.get_by_role("treeitem", name=f"{name},").first.bounding_box()
    return float(box["width"]) if box is not None else 0.0


def test_the_call_tree_zooms_by_mouse_and_back(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    tree = page.get_by_role("tree").first
    whole, before = width_of(page, "whole thread"), width_of(page, "env_step")
    tree.get_by_role("treeitem", name="env_step,").click()
    assert width_of(page, "env_step") == pytest.approx(whole, abs=2)
    assert tree.get_by_role("treeitem", name="update,").count() == 0
    assert "total 24.6 s" in page.locator("#tree .readout").inner_text()
    assert "self 3.30 s" in page.locator("#tree .readout").inner_text()
    page.get_by_role("button", name="Zoom out").click()
    assert width_of(page, "env_step") == pytest.approx(before, abs=2)


def test_the_call_tree_is_walked_and_zoomed_by_keyboard(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    tree = page.get_by_role("tree").first
    tree.locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("policy_forward,")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert width_of(page, "rollout") == pytest.approx(width_of(page, "whole thread"), abs=2)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("rollout,")
    page.keyboard.press("Escape")
    assert tree.get_by_role("treeitem", name="update,").count() == 1


def test_functions_can_be_left_out_of_the_tree_and_another_tree_chosen(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    tree = page.get_by_role("tree").first
    assert tree.get_by_role("treeitem", name="Arm.integrate,").count() == 1
    page.get_by_label("with functions").uncheck()
    assert tree.get_by_role("treeitem", name="Arm.integrate,").count() == 0
    page.get_by_label("Tree of").select_option(label="4 other processes together")
    assert tree.get_by_role("treeitem", name="env.ipc,").count() == 1


def test_a_slider_of_what_if_stops_at_what_was_computed(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    report, _ = full_report()
    first = report.whatif[0].phase
    projections = [entry for entry in report.whatif if entry.phase == first]
    row = page.locator(".whatif li").first
    slider = row.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    assert row.locator("output").inner_text().startswith("1.00x")
    for entry in projections:
        page.keyboard.press("ArrowRight")
        assert row.locator("output strong").inner_text() == f"{entry.sps_ratio:.2f}x"
        assert f"{entry.high:.2f}x" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert row.locator(".chosen").inner_text() == "free"


def test_moments_of_the_run_are_told_by_mouse_and_keyboard(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    chart = page.get_by_role("slider", name="Moment of the run")
    chart.focus()
    page.keyboard.press("End")
    assert "to 62.0 s: " in chart.get_attribute("aria-valuetext")
    assert page.locator("#course .readout").inner_text() == chart.get_attribute("aria-valuetext")
    chart.hover(position={"x": 5, "y": 20})
    assert page.locator("#course .readout").inner_text().startswith("0 s to")


def test_a_slow_iteration_is_shown_in_time_when_it_is_chosen(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    section = page.locator("#iterations")
    assert section.get_by_role("tree", name="Iteration 39 in time").is_visible()
    section.get_by_role("button", name="38").click()
    tree = section.get_by_role("tree", name="Iteration 38 in time")
    assert "1.90 s" in tree.get_by_role("treeitem", name="env_step,").get_attribute("aria-label")


def test_what_other_profilers_saw_what_is_expected_and_what_was_changed_are_told(
    visit: Callable[..., Any], address: str
) -> None:
    page = visit(address).page
    assert "torch threads 1 (this is not the bare program)" in page.locator("header .treated").inner_text()
    windows = page.locator("#windows")
    assert "run.torch-0.json.gz" in windows.inner_text()
    assert windows.get_by_role("rowheader", name="aten::addmm").is_visible()
    windows.locator("summary").last.click()
    assert windows.get_by_role("rowheader", name="aten::index").is_visible()
    assert "SLOW: 33.3% of the least" in page.locator("#rollouts").inner_text()
    device = page.locator("#device")
    assert "busy 501 ms (55.6%), idle 400 ms (44.4%) of 901 ms" in device.inner_text()
    assert device.get_by_role("rowheader", name="cudaStreamSynchronize").is_visible()


def test_light_and_dark_follow_the_system_and_the_choice(visit: Callable[..., Any], address: str) -> None:
    def ground(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = visit(address, scheme="light").page, visit(address, scheme="dark").page
    assert ground(light) != ground(dark)
    by_system = ground(light)
    light.get_by_role("button", name="dark").click()
    assert ground(light) == ground(dark)
    assert light.get_by_role("button", name="dark").get_attribute("aria-pressed") == "true"
    light.get_by_role("button", name="auto").click()
    assert ground(light) == by_system


@pytest.mark.parametrize("width", [390, 1024, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_size_of_screen_scrolls_sideways(visit: Callable[..., Any], address: str, width: int, scheme: str) -> None:
    page = visit(address, width=width, scheme=scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1"
        " && !e.closest('.scrolling, pre, .boxes')).map(e => e.className)"
    )
    assert wide == []


def test_every_table_has_a_caption_and_headers_and_every_control_a_name(
    visit: Callable[..., Any], address: str
) -> None:
    page = visit(address).page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert (
        page.evaluate("[...document.querySelectorAll('table')].filter(t => !t.caption || !t.caption.textContent)") == []
    )
    assert page.evaluate("[...document.querySelectorAll('th')].filter(h => !h.scope)") == []
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=slider], [role=tree], [role=img], [role=region]')]"
        ".filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))"
        ".map(e => e.outerHTML)"
    )
    assert unnamed == []
    assert (
        page.evaluate("[...document.querySelectorAll('svg')].filter(s => s.getAttribute('aria-hidden') !== 'true')")
        == []
    )


def test_what_has_the_focus_can_be_seen(visit: Callable[..., Any], address: str) -> None:
    page = visit(address).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", page.evaluate("document.activeElement.outerHTML")
