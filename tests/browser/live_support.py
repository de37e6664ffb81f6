"""A real browser that keeps to this machine, and notes what a page says and asks for."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

#: Chromium looks for updates, and at what it trusts, by itself; not in a test.
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


@dataclass
class Noted:
    """What a page complained of, and where it wanted to go."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def outside(self, address: str) -> list[str]:
        return [url for url in self.requests if not url.startswith(address)]


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Chromium; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no chromium here")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=list(QUIET))
        try:
            yield started
        finally:
            started.close()


def open_page(started: Any, **options: Any) -> tuple[Any, Noted]:
    """A fresh page in a context of its own."""
    page = started.new_page(**options)
    noted = Noted()
    page.on("console", lambda message: noted.complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: noted.complaints.append(str(error)))
    page.on("request", lambda request: noted.requests.append(request.url))
    return page, noted
