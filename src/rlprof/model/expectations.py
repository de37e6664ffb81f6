"""How fast a program should be: one row of a table that people extend, and how a row is read from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from rlprof.model.errors import BadOption


@dataclass(frozen=True, slots=True)
class Expectation:
    """Steps per second that a program should have on some hardware. An empty text stands for any.

    `hardware` is `cpu` (no device is used), `gpu` (one is), or a part of the name of either. `algorithm` is the name of
    a library's algorithm, or words of the program's name. `phase` is one that the program marks around its rollouts.
    """

    hardware: str
    phase: str
    low: float
    high: float
    algorithm: str = ""
    source: str = ""

    def to_plain(self) -> dict[str, Any]:
        return asdict(self)


def read_row(row: Any) -> Expectation:
    """A row as a person writes it: `{hardware = "cpu", algorithm = "PPO", low = 1500, high = 2500}`."""
    known = [field.name for field in fields(Expectation)]
    if not isinstance(row, Mapping):
        raise BadOption("an expectation is a table with low and high, in steps per second")
    strange = [str(name) for name in row if name not in known]
    if strange:
        raise BadOption(f"an expectation knows no {strange[0]!r}; it knows {', '.join(known)}")
    texts = {name: row.get(name, "") for name in ("hardware", "algorithm", "phase", "source")}
    low: Any = row.get("low")
    high: Any = row.get("high", low)
    if not all(isinstance(text, str) for text in texts.values()):
        raise BadOption("hardware, algorithm, phase and source of an expectation are texts")
    if not _is_speed(low) or not _is_speed(high) or low > high:
        raise BadOption("an expectation needs low, and high where it is another, in steps per second: low = 1500")
    return Expectation(**texts, low=float(low), high=float(high))


def _is_speed(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")
