"""A `.prof` file of cProfile: functions by their own time.

cProfile keeps who called whom, and not whole stacks: a tree could only be guessed. So functions stand beside each
other, with the time that each took itself, which adds up to the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import NotARecording
from rlprof.recording.importers import marshalled
from rlprof.recording.importers.spans import Imported, nanoseconds, root

MOST_FUNCTIONS: Final = 2000
MOST_BYTES: Final = 1 << 28

Function = tuple[str, int, str]


def read_cprofile(file: Path) -> Imported:
    """Every function as a span of its own; those beyond the first thousands together."""
    stats = _load(file)
    top = root()
    ranked = sorted(stats.items(), key=lambda item: -item[1][2])
    for number, ((path, line, name), (_, calls, own, _, _)) in enumerate(ranked):
        shown = f"{name} {path}:{line}" if line else name
        span = top.child(shown if number < MOST_FUNCTIONS else "(more functions)")
        span.count += calls
        span.total_ns += nanoseconds(own)
        span.self_ns += nanoseconds(own)
    wall = sum(span.self_ns for span in top.children.values())
    return Imported(source=file, wall_ns=wall, threads=[("MainThread", top)], facts={"imported": "cProfile"})


def _load(file: Path) -> Mapping[Function, tuple[int, int, float, float, Any]]:
    try:
        raw = file.read_bytes() if file.stat().st_size <= MOST_BYTES else b""
        stats = marshalled.loads(raw)
    except OSError as error:
        raise NotARecording(f"cannot read {file}: {error.strerror or error}") from None
    except marshalled.Unreadable as error:
        raise NotARecording(f"{file} is no file of cProfile: {error}") from None
    if not isinstance(stats, dict) or not stats or not all(map(_is_entry, stats.items())):
        raise NotARecording(f"{file} is no file of cProfile")
    return stats


def _is_entry(item: tuple[Any, Any]) -> bool:
    function, found = item
    return (
        isinstance(function, tuple)
        and [type(part) for part in function] == [str, int, str]
        and isinstance(found, tuple)
        and len(found) == 5
        and all(isinstance(value, int | float) for value in found[:4])
    )
