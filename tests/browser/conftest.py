"""A real Chromium, and a page in it that notes whatever goes wrong or out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from support.chromium import started_chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Not for the whole session: while it is there, an event loop runs in this thread, which other tests would meet."""
    with started_chromium() as browser:
        yield browser


@dataclass
class Visit:
    """A page that was opened, what it complained of, and what it asked for outside of itself."""

    page: Any
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Opens an address at a size and in a scheme; at the end, nothing may have gone wrong or out."""
    visits: list[Visit] = []

    def open_page(address: str, width: int = 1280, height: int = 900, scheme: str = "light") -> Visit:
        page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        made = Visit(page)
        visits.append(made)
        page.on("console", lambda message: made.faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: made.faults.append(str(error)))
        page.on("dialog", lambda dialog: (made.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: made.requests.append(request.url))
        page.goto(address)
        made.requests = [url for url in made.requests if url != address and not url.startswith("data:")]
        return made

    yield open_page
    for made in visits:
        made.page.close()
    assert [made.faults for made in visits] == [[] for _ in visits]
    assert [made.requests for made in visits] == [[] for _ in visits]
