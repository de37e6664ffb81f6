"""Keeping SQLite usable in a forked child.

SQLite has a handful of locks for the whole process. A thread that is inside SQLite at the moment of a fork, ours or the
program's own, may hold one; its copy in the child is then held for ever, and the child's first use of SQLite would wait
for it without end. So they are all taken before the process is copied, and let go on both sides.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any, Final

HOLD_SECONDS: Final = 0.5  # each lock is held for microseconds at a time; longer, and something else is wrong

_STATIC_MUTEXES: Final = range(2, 14)  # SQLITE_MUTEX_STATIC_MAIN to SQLITE_MUTEX_STATIC_VFS3
_OLDEST_WITH_ALL: Final = (3, 9)


class SqliteLocks:
    """SQLite's process-wide locks. Where the library cannot be reached, holding them does nothing."""

    def __init__(self) -> None:
        self._try: Callable[[Any], int] = lambda _: 0
        self._leave: Callable[[Any], None] = lambda _: None
        self._mutexes: list[Any] = []
        self._held: list[Any] = []
        if sqlite3.sqlite_version_info >= _OLDEST_WITH_ALL:
            self._find()

    def _find(self) -> None:
        try:
            import _sqlite3
            import ctypes

            # With PyDLL the interpreter lock is kept: nothing of ours runs between taking one lock and the next.
            library = ctypes.PyDLL(getattr(_sqlite3, "__file__", None))
            allocate, self._try, self._leave = (
                library.sqlite3_mutex_alloc,
                library.sqlite3_mutex_try,
                library.sqlite3_mutex_leave,
            )
        except (ImportError, OSError, AttributeError):  # no ctypes, or SQLite is linked in out of sight
            return
        allocate.restype = ctypes.c_void_p
        for function in (library.sqlite3_mutex_try, library.sqlite3_mutex_leave):
            function.argtypes = [ctypes.c_void_p]
        self._mutexes = [found for number in _STATIC_MUTEXES if (found := allocate(number))]

    def hold(self) -> None:
        """Take them all or, after a while, none. In any order: whoever finds one taken lets go and tries again."""
        deadline = time.monotonic() + HOLD_SECONDS
        while not self._take_all() and time.monotonic() < deadline:
            time.sleep(0.0002)

    def _take_all(self) -> bool:
        for mutex in self._mutexes:
            if self._try(mutex) != 0:
                self.release()
                return False
            self._held.append(mutex)
        return True

    def release(self) -> None:
        while self._held:
            self._leave(self._held.pop())
