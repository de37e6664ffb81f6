"""A comparison as what the page draws: the verdict in words, and each phase of A beside that of B."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from rlprof.model.comparison import Comparison, Row
from rlprof.model.units import format_duration
from rlprof.render import comparison_words as words
from rlprof.render.page.tints import tint

Payload = dict[str, Any]
MOST_OPERATIONS: Final = 500
#: The scale of speed-ups reaches from a quarter to four times, the same distance for as much slower as faster.
_REACH: Final = 4.0


def comparison_payload(found: Comparison) -> Payload:
    """Everything, in the order in which it is read."""
    longest = max((max(row.baseline_seconds, row.candidate_seconds) for row in found.phases), default=0.0)
    return {
        "kind": "comparison",
        "headline": words.headline(found),
        "verdict": found.overall.verdict,
        "explanation": list(words.explanation(found)),
        "pairs": f"{found.pairs} {'pair' if found.pairs == 1 else 'pairs'} of "
        + ("runs" if found.unit == "run" else "batches in one run"),
        "sides": [
            {"letter": letter, "name": side.name, "recordings": list(side.recordings)}
            for letter, side in (("A", found.baseline), ("B", found.candidate))
        ],
        "per": found.per,
        "overall": _whole(found),
        "phases": [
            {"name": row.phase, "tint": tint(row.phase), **_row(row), **_lengths(row, longest)} for row in found.phases
        ],
        "operations": [_operation(row.path, row) for row in found.operations[:MOST_OPERATIONS]],
        "memory": words.memory_line(found.memory) if found.memory is not None else "",
        "notes": [{"title": title, "lines": list(lines)} for title, lines in words.side_notes(found)],
        "warnings": [{"code": w.code, "message": w.message, "remedy": w.remedy} for w in found.warnings],
    }


def _whole(found: Comparison) -> Payload:
    overall = found.overall
    return {
        "change": words.ratio(overall.ratio),
        "interval": words.interval(overall.low, overall.high),
        **_places(overall.ratio, overall.low, overall.high),
    }


def _row(row: Row) -> Payload:
    return {
        "a": format_duration(row.baseline_seconds),
        "b": format_duration(row.candidate_seconds),
        "change": words.change(row),
        "interval": words.interval(row.low, row.high),
        "saved": words.saved(row),
        "verdict": row.verdict,
        "said": words.WORDS[row.verdict],
        **_places(row.ratio, row.low, row.high),
    }


def _lengths(row: Row, longest: float) -> Payload:
    sides = ("lengthA", row.baseline_seconds), ("lengthB", row.candidate_seconds)
    return {name: round(seconds / longest, 4) if longest > 0 else 0.0 for name, seconds in sides}


def _operation(path: Iterable[str], row: Row) -> Payload:
    values = [row.baseline_seconds, row.candidate_seconds, row.ratio, row.contribution]
    return {"path": list(path), **_row(row), "values": values}


def _places(ratio: float | None, low: float | None, high: float | None) -> Payload:
    return {"at": _place(ratio), "low": _place(low), "high": _place(high)}


def _place(ratio: float | None) -> float | None:
    """On the scale: 0 is as slow as it goes, a half is no difference, 1 as fast as it goes."""
    if ratio is None:
        return None
    clipped = min(max(ratio, 1 / _REACH), _REACH)
    return round(0.5 + math.log(clipped) / (2 * math.log(_REACH)), 4)
