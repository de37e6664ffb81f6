"""Machines that lost a trial are left alone for a while.

A cluster notices late that a node is dead, and names it until then. Whoever believes that gives it the same trial again
and again, within a second each, until the setting is given up for losses that were one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

#: Ray asks nodes how they are every 3 s, and calls those dead that have not answered 5 times.
DOUBT_SECONDS: Final = 30.0


class DoubtedNodes:
    """Which nodes lost a trial just now."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lost_at: dict[str, float] = {}

    def lost_on(self, node: str) -> None:
        """A trial on this node came to nothing."""
        self._lost_at[node] = self._clock()

    def trusted(self, nodes: Iterable[str]) -> list[str]:
        """Those of `nodes` that may be given a trial."""
        now = self._clock()
        return [node for node in nodes if now - self._lost_at.get(node, float("-inf")) >= DOUBT_SECONDS]
