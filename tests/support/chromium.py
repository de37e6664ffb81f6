"""A real Chromium that keeps to this machine."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: Chromium looks for updates, and at what it trusts, by itself; not in a test.
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def started_chromium() -> Iterator[Any]:
    """The browser; the test is skipped where there is none. Only one may be open in a process."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium fonts-dejavu-core")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()
