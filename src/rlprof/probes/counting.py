"""Counting from what a library's call returned: a form that nobody foresaw is our problem, never the program's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlprof.record.complain import complain


def count_from(library: str, count: Callable[..., None], *seen: Any) -> None:
    """Count; what goes wrong is said once."""
    try:
        count(*seen)
    except Exception as error:
        say_uncounted(library, error)


def say_uncounted(library: str, error: Exception) -> None:
    complain(f"counts of {library}", f"steps or episodes of {library} are not all counted: {error!r}")
