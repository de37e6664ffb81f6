"""What `rlprof export --to speedscope` writes, opened in speedscope itself."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.programs import run_recorded, write_program

pytestmark = pytest.mark.browser

SPEEDSCOPE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "speedscope" / "dist" / "release"
HOSTILE = "<img src=x onerror=window.pwned=1>\x1b[31m"
PROGRAM = f"""
    import multiprocessing, time
    from rlprof import count, iteration, profile

    def worker():
        for _ in range(20):
            with profile("simulate", phase="env.step"):
                time.sleep(0.01)

    def train():
        for _ in range(6):
            iteration()
            with profile("collect"):
                with profile("env step", phase="env.step"):
                    time.sleep(0.05)
                count("env_steps", 4)
            with profile({HOSTILE!r}, phase="learn.loss"):
                time.sleep(0.05)

    if __name__ == "__main__":
        child = multiprocessing.get_context("fork").Process(target=worker)
        child.start()
        train()
        child.join()
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("speedscope")
    done = run_recorded(write_program(folder, PROGRAM))
    assert done.code == 0, done.err
    file = folder / "run.speedscope.json"
    command = [sys.executable, "-m", "rlprof", "export", str(done.target), "--to", "speedscope", "--out", str(file)]
    subprocess.run(command, check=True, timeout=100)
    return file


@pytest.fixture
def address(exported: Path, tmp_path: Path) -> Iterator[str]:
    """speedscope and the file on one port of this machine, as a site would serve them."""
    if not SPEEDSCOPE.is_dir():
        pytest.skip("speedscope is not installed: npm ci --prefix web")
    site = tmp_path / "site"
    shutil.copytree(SPEEDSCOPE, site)
    shutil.copyfile(exported, site / "profile.json")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_speedscope_opens_the_file_and_shows_its_threads_and_names(chromium: Any, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1400, "height": 800})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(f"{address}/#profileURL={address}/profile.json")
    page.get_by_text(re.compile(r"^main \d+.*MainThread")).first.wait_for()
    page.keyboard.press("3")  # the view that lists functions in a table
    page.get_by_text("env step", exact=True).first.wait_for()
    shown = page.inner_text("body")
    assert "collect" in shown
    assert "<img src=x onerror=window.pwned=1>" in shown
    assert page.evaluate("window.pwned") is None
    page.keyboard.press("n")  # the next thread: the worker's
    page.get_by_text("simulate", exact=True).first.wait_for()
    assert faults == []
    page.close()
