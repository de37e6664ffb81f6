"""How long this process's main thread ran, and how long it was ready and had no core, as the kernel counts it."""

from __future__ import annotations

from typing import Final

_WHERE: Final = "/proc/self/schedstat"  # nanoseconds on a core, nanoseconds ready without one, turns


def core_wait_ns() -> int | None:
    """Ready without a core since the process began; None where the kernel does not say."""
    return _column(1)


def main_run_ns() -> int | None:
    """On a core since the process began; None where the kernel does not say."""
    return _column(0)


def _column(number: int) -> int | None:
    try:
        with open(_WHERE, "rb") as file:
            return int(file.read(200).split()[number])
    except (OSError, ValueError, IndexError):
        return None
