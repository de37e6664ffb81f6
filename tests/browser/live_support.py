"""A page of a real browser that notes what it says and asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Noted:
    """What a page complained of, and where it wanted to go."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def outside(self, address: str) -> list[str]:
        return [url for url in self.requests if not url.startswith(address)]


def open_page(started: Any, **options: Any) -> tuple[Any, Noted]:
    """A fresh page in a context of its own."""
    page = started.new_page(**options)
    noted = Noted()
    page.on("console", lambda message: noted.complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: noted.complaints.append(str(error)))
    page.on("request", lambda request: noted.requests.append(request.url))
    return page, noted
