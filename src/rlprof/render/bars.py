"""Bars and sparklines out of block characters, with a plain form for terminals that lack them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_PLAIN_LEVELS: Final = "_.-=*#"


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """A bar of at most `width` characters; anything above zero leaves a mark."""
    if width < 1:
        return ""
    share = min(max(share, 0.0), 1.0)
    if plain:
        return "#" * max(round(share * width), 1 if share > 0 else 0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def sparkline(values: Sequence[float], width: int, *, plain: bool = False) -> str:
    """One character per value, or per group of neighbours where there are more values than room."""
    if not values or width < 1:
        return ""
    columns = min(width, len(values))
    bounds = [round(index * len(values) / columns) for index in range(columns + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(bounds)]
    levels = _PLAIN_LEVELS if plain else _LEVELS
    highest = max(means)
    if highest <= 0:
        return levels[0] * columns
    return "".join(levels[min(int(max(mean, 0.0) / highest * len(levels)), len(levels) - 1)] for mean in means)
