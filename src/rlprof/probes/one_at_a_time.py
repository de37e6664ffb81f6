"""Keeping two looks at the program's code apart.

Classes are looked at by the thread that makes them, names also by the thread that writes, and by whichever thread
begins a collection of garbage, which may be one in the middle of a look.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")


class OneAtATime:
    """Functions of which one thread at a time is inside. From within, one goes through."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def in_turn(self, function: Callable[[A], R]) -> Callable[[A], R]:
        """The function, which waits until others have left."""

        def call(argument: A) -> R:
            with self._lock:
                self._inside += 1
                try:
                    return function(argument)
                finally:
                    self._inside -= 1

        return call

    def if_free(self, function: Callable[[A], R], *, otherwise: R) -> Callable[[A], R]:
        """The function, which is not called while anybody is inside, be it the caller."""
        in_turn = self.in_turn(function)
        return lambda argument: otherwise if self._inside else in_turn(argument)

    def _forget(self) -> None:
        """In a forked child, whoever was inside in another thread is not there."""
        self._lock = threading.RLock()
        self._inside = 0
