"""Times a program's training loop, and lets a recording of it cover that loop alone."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rlprof import get_profiler


class LoopClock:
    """`recorded` says that the program runs under `rlprof run`: then recording is off until the loop begins.

    So the overhead that the report gives is the loop's own, and not that of sampling the imports before it.
    """

    def __init__(self, recorded: bool) -> None:
        self._recorded = recorded
        if recorded:
            get_profiler().disable()

    @contextmanager
    def loop(self, steps: int) -> Iterator[None]:
        """Time the block and tell its duration to whoever reads the output."""
        if self._recorded:
            get_profiler().enable()
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        if self._recorded:
            get_profiler().disable()
        print(json.dumps({"seconds": seconds, "steps": steps}), flush=True)

    def take_turns(self, unit: Callable[[], object], steps: int) -> None:
        """Run one unit for each line that comes in, until there are no more: whoever sends them measures in turns."""
        print(json.dumps({"ready": True}), flush=True)
        for _ in sys.stdin:
            with self.loop(steps):
                unit()
