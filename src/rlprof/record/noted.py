"""What probes find out about the program while it runs: facts for the recording, and a word before each flush."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_facts: dict[str, Any] = {}
#: Called by whoever flushes, before it does. None of them may raise.
before_flush: list[Callable[[], None]] = []


def note(name: str, value: Any) -> None:
    """Put a fact into the recording with the next flush. It must be plain JSON."""
    _facts[name] = value


def noted() -> dict[str, Any]:
    return _facts.copy()


def forget() -> None:
    _facts.clear()
