"""Stack samples: which function and line a thread was in while a path was innermost."""

from __future__ import annotations

from rlprof import _core

FrameRow = tuple[int, int | None, str, str, int]  # id, caller, function, file, line


def drain_stacks() -> tuple[list[FrameRow], list[tuple[int, int, int]]]:
    """New places, and (path, place, count) since the last call. Places form a tree, each below its caller."""
    places, counts = _core.drain_samples()
    rows = [
        # Python 3.10 has no qualified names on code objects.
        (place, caller, getattr(code, "co_qualname", code.co_name), code.co_filename, line)
        for place, caller, code, line in places
    ]
    return rows, [(key >> 32, key & 0xFFFFFFFF, count) for key, count in counts.items()]
