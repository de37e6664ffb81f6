"""The time by category, with bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rlprof.analyse.categories import CategoryTime
from rlprof.model.units import format_duration, format_percent
from rlprof.render.bars import bar

_BAR_WIDTH: Final = 40


def category_lines(categories: Iterable[CategoryTime], *, plain: bool = False) -> Iterator[str]:
    """A heading and one line for each."""
    yield f"{'category':<16} {'time':>8} {'share':>7}"
    for entry in categories:
        figures = f"{entry.name:<16} {format_duration(entry.seconds):>8} {format_percent(entry.share):>7}"
        yield f"{figures}  {bar(entry.share, _BAR_WIDTH, plain=plain)}".rstrip()
