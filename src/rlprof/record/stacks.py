"""The stack sampler: which function and line a thread was in while a path was innermost."""

from __future__ import annotations

import sys

from rlprof import _core

FrameRow = tuple[int, int | None, str, str, int]  # id, caller, function, file, line


class StackSampler:
    """Takes samples and hands them over by path and place. Places form a tree, each below its caller."""

    def sample(self) -> None:
        """Note the stack of every thread that records spans."""
        _core.sample_stacks(sys._current_frames)

    def drain(self) -> tuple[list[FrameRow], list[tuple[int, int, int]]]:
        """New places, and (path, place, count) since the last call."""
        places, counts = _core.drain_samples()
        rows = [
            # Python 3.10 has no qualified names on code objects.
            (place, caller, getattr(code, "co_qualname", code.co_name), code.co_filename, line)
            for place, caller, code, line in places
        ]
        return rows, [(key >> 32, key & 0xFFFFFFFF, count) for key, count in counts.items()]
