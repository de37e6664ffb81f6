"""A curve out of characters: measured points as dots, a law as a line of smaller ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

HEIGHT: Final = 10
WIDEST: Final = 64
_MARKS: Final = ("●", "·")
_PLAIN_MARKS: Final = ("o", ".")

Point = tuple[float, float]


def curve(
    points: Sequence[Point], law: Sequence[Point], width: int, label: Callable[[float], str], *, plain: bool = False
) -> list[str]:
    """Lines with a scale on the left and the measured numbers below; numbers are spaced by their ratio."""
    if not points:
        return []
    highest = max(y for _, y in (*points, *law))
    left = max(len(label(highest)), len(label(0.0)))
    columns = max(min(width - left - 3, WIDEST), 10)
    low, high = points[0][0], points[-1][0]
    place = _placing(low, high, columns)
    cells = [[" "] * columns for _ in range(HEIGHT)]
    dot, line = _PLAIN_MARKS if plain else _MARKS
    for (x, y), mark in (*((p, line) for p in law), *((p, dot) for p in points)):
        cells[_row(y, highest)][place(x)] = mark
    edge = "|" if plain else "│"
    scale = {0: label(highest), HEIGHT - 1: label(0.0)}
    lines = [f"{scale.get(row, ''):>{left}} {edge}{''.join(cells[row])}".rstrip() for row in range(HEIGHT)]
    return [*lines, " " * (left + 2) + _numbers([x for x, _ in points], place, columns)]


def _placing(low: float, high: float, columns: int) -> Callable[[float], int]:
    span = math.log(high / low) if high > low > 0 else 1.0
    return lambda x: min(max(round(math.log(max(x, low) / low) / span * (columns - 1)), 0), columns - 1)


def _row(y: float, highest: float) -> int:
    share = min(max(y / highest, 0.0), 1.0) if highest > 0 else 0.0
    return HEIGHT - 1 - round(share * (HEIGHT - 1))


def _numbers(values: Sequence[float], place: Callable[[float], int], columns: int) -> str:
    """The numbers under their points; one that would run into the one before is left out."""
    line = ""
    for value in values:
        text = f"{value:g}"
        at = min(place(value), columns - len(text))
        if not line or at > len(line):
            line = line.ljust(at) + text
    return line
