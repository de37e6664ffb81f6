"""How long this process's main thread was ready to run and had no core, as the kernel counts it."""

from __future__ import annotations

from typing import Final

_WHERE: Final = "/proc/self/schedstat"  # nanoseconds on a core, nanoseconds ready without one, turns


def core_wait_ns() -> int | None:
    """Since the process began; None where the kernel does not say."""
    try:
        with open(_WHERE, "rb") as file:
            return int(file.read(200).split()[1])
    except (OSError, ValueError, IndexError):
        return None
