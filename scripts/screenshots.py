"""Take the pictures in docs/images anew: a real run in a real terminal, and its page in a real browser.

PYTHONPATH=tests python scripts/screenshots.py        (needs the dev and examples extras, and chromium)
"""

from __future__ import annotations

import io
import re
import tempfile
import time
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.style import Style
from rich.text import Text

from support.chromium import started_chromium
from support.screens import Screen
from support.watched import page_of

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS, ROWS = 100, 28
#: The picture must fetch nothing, so it takes whatever monospaced font there is.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = Path(folder) / "train.py"
        program.write_text((ROOT / "examples" / "cartpole_ppo.py").read_text(encoding="utf-8"), encoding="utf-8")
        command = ["run", "--live", "--quiet", "--out", "run.rlprof", "train.py", "--iterations", "100000"]
        screen = Screen(command, Path(folder), COLUMNS, ROWS)
        seen = time.monotonic()
        screen.read_until(lambda: time.monotonic() > seen + 45 and shows(screen), "a dashboard")
        (IMAGES / "run-live.svg").write_text(picture(screen), encoding="utf-8")
        take_pages(Path(folder) / "run.rlprof")
        screen.press(b"\x03")
        screen.end()


def shows(screen: Screen) -> bool:
    return any("steps/s now" in row for row in screen.rows())


def picture(screen: Screen) -> str:
    """The screen as it is, colours and all."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for row in range(ROWS):
        line = Text()
        for column in range(COLUMNS):
            cell = screen.cell(row, column)
            line.append(cell.data, Style(color=colour(cell.fg), bold=cell.bold))
        console.print(line, end="\n", no_wrap=True)
    return console.export_svg(title="rlprof run --live train.py", code_format=FORMAT)


def colour(name: str) -> str | None:
    if name == "default":
        return None
    if re.fullmatch(r"[0-9a-f]{6}", name):
        return f"#{name}"
    return {"brown": "yellow", "brightbrown": "bright_yellow"}.get(name, re.sub("^bright", "bright_", name))


def take_pages(recording: Path) -> None:
    with page_of(recording) as address, started_chromium() as started:
        for scheme, width, height in (("light", 1100, 940), ("dark", 400, 860)):
            page = started.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(address)
            page.wait_for_selector("#phases tr")
            page.screenshot(path=IMAGES / f"watch-web-{scheme}.png")


if __name__ == "__main__":
    main()
