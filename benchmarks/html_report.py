"""How large the HTML report of an hour of eight processes is, how long it takes to make, and when it has been drawn.

The recording is made by a generator (synthetic.py) through rlprof's own writer. First paint is what the browser says
itself, from the beginning of the navigation; an empty page in the same browser, taken in turns with the report, shows
what of it is the browser's own. Bars: 3 MB, and 1 s to the first paint.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from commands import checked, rlprof_command
from measure import CannotMeasure, Result, Table, argument_parser, finish, new_result, run_script, say
from synthetic import Shape, write_recording

from rlprof.experiments.pairs import interleave, spread

MB = 1_000_000
SIZE_BAR_MB, PAINT_BAR_S = 3.0, 1.0
EMPTY = "<!doctype html><html lang='en'><title>empty</title><p>nothing"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
DRAWN = "performance.getEntriesByName('rlprof-drawn')[0]?.startTime"


def browser_and_driver() -> tuple[str, Any]:
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        raise CannotMeasure("there is no Chromium here: on Debian, apt-get install chromium fonts-dejavu-core")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CannotMeasure("playwright is missing: pip install playwright") from None
    return executable, sync_playwright


def seconds_until(browser: Any, page: Path, what: str) -> float:
    """From the beginning of the navigation to a moment that the page or the browser notes."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        tab.goto(page.as_uri())
        # Not by wait_for_function, which evaluates a text inside of the page: its content policy forbids that.
        while (moment := tab.evaluate(what)) is None:
            sleep(0.01)
        return float(moment) / 1000
    finally:
        tab.close()


def seconds_to_make(recording: Path, page: Path) -> float:
    start = perf_counter()
    subprocess.run([*rlprof_command(), "report", str(recording), "--html", str(page)], check=True)
    return perf_counter() - start


def fill(result: Result, recording: Path, directory: Path, rounds: int) -> None:
    executable, sync_playwright = browser_and_driver()
    page, empty = directory / "hour.html", directory / "empty.html"
    empty.write_text(EMPTY, encoding="utf-8")
    checked([*rlprof_command(), "report", str(recording), "--html", str(page)])
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        turns: dict[str, Callable[[], float]] = {
            "made, by a fresh process": lambda: seconds_to_make(recording, page),
            "first paint of the report": lambda: seconds_until(browser, page, FIRST_PAINT),
            "all of the report drawn": lambda: seconds_until(browser, page, DRAWN),
            "first paint of an empty page": lambda: seconds_until(browser, empty, FIRST_PAINT),
        }
        say(f"{rounds} rounds ...")
        values = interleave(turns, rounds)
        browser.close()
    size = page.stat().st_size / MB
    painted = spread(values["first paint of the report"])
    rows = [(name, spread(these).text(3, " s"), _ratio(name, spread(these).median)) for name, these in values.items()]
    rows.append(("size of the file", f"{size:.2f} MB", f"{size / SIZE_BAR_MB:.2f}"))
    result.tables.append(Table("One hour, 8 processes", ("what", "measured", "times the bar"), rows))
    result.check_at_most("HTML report, one hour of 8 processes: size", size, SIZE_BAR_MB, " MB")
    result.check_at_most("its first paint in Chromium", painted, PAINT_BAR_S, " s")
    result.data = {"seconds": values, "megabytes": size}


def _ratio(name: str, seconds: float) -> str:
    return f"{seconds / PAINT_BAR_S:.2f}" if name.startswith(("first paint of the", "all")) else "-"


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="openings of the page (9; quick: 3)")
    args = parser.parse_args()
    result = new_result("HTML report", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as scratch:
        say("writing an hour of 8 processes ...")
        recording = write_recording(Path(scratch) / "hour.rlprof", Shape())
        fill(result, recording, Path(scratch), args.rounds or (3 if args.quick else 9))
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
