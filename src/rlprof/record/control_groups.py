"""What the control groups of this process allow it of cores and memory, and how often they held it up.

A process is in a group of each hierarchy, and every group above limits it, too. Inside a container the names of groups
are often those outside of it, so that only the top of the tree is seen: that is then the container's own. Nothing here
may fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_MINE: Final = Path("/proc/self/cgroup")
#: A limit beyond this is none: version 1 writes a number of that size where there is no limit.
NO_LIMIT_BYTES: Final = 1 << 60


def cpu_quota(root: Path = _ROOT, mine: Path = _MINE) -> float | None:
    """CPUs' worth of time that the process may use, the least of all groups; None where nothing limits it."""
    quotas = [_quota(folder) for folder in _folders("cpu", root, mine)]
    return min((quota for quota in quotas if quota is not None), default=None)


def throttling(root: Path = _ROOT, mine: Path = _MINE) -> tuple[int, float] | None:
    """In how many periods a quota held processes of the group up, and for how many seconds in all; None if unknown."""
    found = [held for folder in _folders("cpu", root, mine) if (held := _held_up(folder)) is not None]
    return max(found, default=None, key=lambda held: held[1])


def memory_limit(root: Path = _ROOT, mine: Path = _MINE) -> int | None:
    """Bytes that the process's groups may hold, the least of them; None where nothing limits it."""
    names = ("memory.max", "memory.limit_in_bytes")
    found = [_number(folder / name) for folder in _folders("memory", root, mine) for name in names]
    return min((limit for limit in found if limit is not None and limit < NO_LIMIT_BYTES), default=None)


def _folders(controller: str, root: Path, mine: Path) -> Iterator[Path]:
    """The group's folder and those above it, in the hierarchy that has this controller."""
    known = _groups(mine)
    for top, group in ((root, known.get("", "/")), (root / controller, known.get(controller, "/"))):
        inside = [part for part in group.split("/") if part not in ("", "..", ".")]
        for depth in range(len(inside), -1, -1):
            yield top.joinpath(*inside[:depth])


def _groups(mine: Path) -> dict[str, str]:
    """By controller; the empty one is that of version 2."""
    groups: dict[str, str] = {}
    for line in _lines(mine):
        parts = line.split(":", 2)
        if len(parts) == 3:
            groups.update(dict.fromkeys(parts[1].split(","), parts[2]))
    return groups


def _quota(folder: Path) -> float | None:
    words = " ".join(_lines(folder / "cpu.max")).split()
    if not words:
        whole, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        return whole / period if whole and period and whole > 0 else None
    try:
        return int(words[0]) / int(words[1])
    except (ValueError, IndexError, ZeroDivisionError):  # "max 100000": no limit
        return None


def _held_up(folder: Path) -> tuple[int, float] | None:
    counts: dict[str, int] = {}
    for line in _lines(folder / "cpu.stat"):
        name, _, value = line.partition(" ")
        if value.strip().isdecimal():
            counts[name] = int(value)
    for name, unit in (("throttled_usec", 1e-6), ("throttled_time", 1e-9)):
        if name in counts:
            return counts.get("nr_throttled", 0), counts[name] * unit
    return None


def _number(file: Path) -> int | None:
    text = "".join(_lines(file)[:1]).strip()
    return int(text) if text.lstrip("-").isdecimal() else None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
