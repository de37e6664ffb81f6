"""Whether a process that never said goodbye still runs."""

from __future__ import annotations

from pathlib import Path

import psutil

from rlprof.model.recording import Status

_ENDED: tuple[Status, ...] = ("completed", "failed", "interrupted", "killed")


def settled_status(recorded: str, pid: int, birth: str | None) -> Status:
    """The recorded status, except that a process which no longer runs without having ended properly was killed."""
    for status in _ENDED:
        if status == recorded:
            return status
    return "running" if is_alive(pid, birth) else "killed"


def is_alive(pid: int, birth: str | None) -> bool:
    """Whether the process of that pid and birth mark runs, on this machine, since its last start."""
    try:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return False
    except psutil.Error:
        return False
    return birth is not None and birth_mark(pid) == birth


def birth_mark(pid: int) -> str | None:
    """What tells a process from a later one with the same pid: the machine's start and the process's own.

    Linux counts both on clocks that nobody can set; elsewhere the start time has to do.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return f"{boot}:{fields[19]}"
    except (OSError, IndexError):
        pass
    try:
        return f"{psutil.Process(pid).create_time():.0f}"
    except psutil.Error:
        return None
