"""The stack sampler: which function and line a thread was in while a path was innermost."""

from __future__ import annotations

import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Final

from rlprof import _core

MAX_DEPTH: Final = 100
MAX_FRAMES: Final = 20_000  # distinct places with their callers; further ones are booked on the caller they share

FrameRow = tuple[int, int | None, str, str, int]  # id, parent, function, file, line


class StackSampler:
    """Takes samples and counts them by path and place. Places form a tree, each below its caller."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int | None, CodeType, int], int] = {}
        self._new: list[FrameRow] = []
        self._counts: Counter[tuple[int, int]] = Counter()
        self.taken = 0

    def sample(self) -> None:
        """Note the stack of every thread that records spans."""
        paths: dict[int, int] = _core.open_paths()
        frames = sys._current_frames()
        for ident, path in paths.items():
            frame = frames.get(ident)
            if frame is not None:
                self._counts[path, self._place(frame)] += 1
                self.taken += 1
        # A frame that stays referenced keeps its program's variables alive.
        del frames

    def _place(self, frame: FrameType | None) -> int:
        chain: list[tuple[CodeType, int]] = []
        while frame is not None and len(chain) < MAX_DEPTH:
            chain.append((frame.f_code, frame.f_lineno or 0))
            frame = frame.f_back
        parent: int | None = None
        for code, line in reversed(chain):
            key = (parent, code, line)
            known = self._ids.get(key)
            if known is None:
                if len(self._ids) >= MAX_FRAMES and parent is not None:
                    return parent
                known = len(self._ids)
                self._ids[key] = known
                name = getattr(code, "co_qualname", code.co_name)
                self._new.append((known, parent, name, code.co_filename, line))
            parent = known
        return -1 if parent is None else parent

    def drain(self) -> tuple[list[FrameRow], list[tuple[int, int, int]]]:
        """New places, and (path, place, count) since the last call."""
        new, self._new = self._new, []
        counts, self._counts = self._counts, Counter()
        return new, [(path, place, count) for (path, place), count in counts.items()]
