"""Trials of all experiments on this machine run one after the other: side by side they would measure each other."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def lock_file() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"rlprof-trials-{user}.lock"


@contextlib.contextmanager
def turn_of_this_trial() -> Iterator[None]:
    """Wait until no other experiment of this user runs a trial. The system gives the turn back, however we end."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        handle = os.open(lock_file(), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    except OSError:
        yield  # no place for a lock is no reason not to measure
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
