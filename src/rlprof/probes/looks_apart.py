"""Keeping two looks at the program's code apart.

Classes are looked at by the thread that makes them, names also by the thread that writes, and by whichever thread
begins a collection of garbage, which may be one in the middle of a look.
"""

from __future__ import annotations

import os
import threading


class OneAtATime:
    """A context of which one thread at a time is inside. From within, one goes through."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.is_taken = 0  # by how many, the caller included
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def __enter__(self) -> None:
        self._lock.acquire()
        self.is_taken += 1

    def __exit__(self, *_: object) -> None:
        self.is_taken -= 1
        self._lock.release()

    def _forget(self) -> None:
        """In a forked child, whoever was inside in another thread is not there."""
        self._lock = threading.RLock()
        self.is_taken = 0
