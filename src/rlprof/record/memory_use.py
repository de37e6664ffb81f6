"""Signs of a process that is short of memory, as the kernel counts them: pages read back, pages swapped out.

Noted at the start and again now and then. When pages were read back is noted, too, because a program's start reads its
libraries in that way; and how much was allocated when, because resident memory rises as well where what was allocated
long ago is written to for the first time. Nothing here may fail.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psutil

if sys.platform != "win32":
    import resource

_STATUS: Final = Path("/proc/self/status")
_SIZES: Final = "/proc/self/statm"
_MACHINE: Final = Path("/proc/vmstat")
MOST_MOMENTS: Final = 128


def memory_use() -> dict[str, Any]:
    """Since the process began, and as things are. What the system will not say is None."""
    return {
        "major_faults": major_faults(),
        "swapped_bytes": _swapped_bytes(),
        "machine_pages_swapped_in": _machine_pages_swapped_in(),
        "machine_available_bytes": _available_bytes(),
    }


def major_faults() -> int | None:
    """Pages of this process that were read from a disk since it began."""
    if sys.platform == "win32":
        return None
    try:
        return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    except (OSError, ValueError):
        return None


def allocated_bytes() -> int | None:
    """The size of this process's address space: what is resident, and what it may still write to."""
    try:
        with open(_SIZES, "rb", buffering=0) as file:
            return int(file.read(128).split()[0]) * os.sysconf("SC_PAGESIZE")
    except (OSError, AttributeError, ValueError, IndexError):
        return None


class Course:
    """What was counted at which moments. Long courses keep every second moment."""

    def __init__(self, count: Callable[[], int | None]) -> None:
        self._count = count
        self._rows: list[tuple[int, int]] = []

    def note(self, at_ns: int) -> None:
        """To be asked now and then; a moment at which nothing has changed is not kept."""
        now = self._count()
        if now is None or (self._rows and self._rows[-1][1] == now):
            return
        if len(self._rows) >= MOST_MOMENTS:
            self._rows = self._rows[::2]
        self._rows.append((at_ns, now))

    def fact(self) -> list[list[int]]:
        return [[at, count] for at, count in self._rows]


def _swapped_bytes() -> int | None:
    return _entry(_STATUS, "VmSwap:", 1024)


def _machine_pages_swapped_in() -> int | None:
    return _entry(_MACHINE, "pswpin", 1)


def _available_bytes() -> int | None:
    try:
        return int(psutil.virtual_memory().available)
    except (OSError, RuntimeError, ValueError):
        return None


def _entry(file: Path, name: str, unit: int) -> int | None:
    try:
        for line in file.read_text(encoding="ascii", errors="replace").splitlines():
            words = line.split()
            if len(words) > 1 and words[0] == name and words[1].isdecimal():
                return int(words[1]) * unit
    except OSError:
        pass
    return None
