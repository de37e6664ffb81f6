"""Ticks of an axis, with their labels: round numbers, few of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from rlprof.model.units import format_duration

_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_SECONDS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)


def ticks(highest: float, say: Callable[[float], str], most: int = 4) -> list[dict[str, Any]]:
    """From zero to `highest`; `at` is the part of the way, 0 to 1."""
    if highest <= 0:
        return [{"at": 0.0, "label": say(0.0)}]
    rough = highest / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((power * nice for nice in _ROUND if power * nice >= rough * 0.999), power * 10)
    return _at_steps(highest, step, say)


def time_ticks(seconds: float, most: int = 6) -> list[dict[str, Any]]:
    """Along the run."""
    if seconds <= 0:
        return [{"at": 0.0, "label": "0 s"}]
    step = next((nice for nice in _SECONDS if seconds / nice <= most), 0) or _days(seconds, most)
    return _at_steps(seconds, step, format_duration)


def _days(seconds: float, most: int) -> float:
    return 86400.0 * math.ceil(seconds / most / 86400.0)


def _at_steps(highest: float, step: float, say: Callable[[float], str]) -> list[dict[str, Any]]:
    count = int(highest / step + 1e-9)
    return [{"at": round(step * index / highest, 5), "label": say(step * index)} for index in range(count + 1)]


def rounded(values: Sequence[float], digits: int = 4) -> list[float]:
    """Shorter numbers for what is only drawn."""
    return [round(value, digits) for value in values]
