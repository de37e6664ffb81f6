"""Device memory through torch's allocator, when the program has loaded torch and is using a device.

Nothing here imports torch or wakes a device: a program that never touches its GPU must not find it initialised.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol, cast


class Allocator(Protocol):
    """The part of `torch.cuda` that is used here."""

    def is_initialized(self) -> bool: ...
    def current_device(self) -> int: ...
    def get_device_name(self, device: int) -> str: ...
    def memory_allocated(self) -> int: ...
    def max_memory_allocated(self) -> int: ...
    def reset_peak_memory_stats(self) -> None: ...


def allocator() -> Allocator | None:
    """torch's allocator when a device is in use, else None."""
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    try:
        if cuda is None or not cuda.is_initialized():
            return None
    except Exception:  # a half-imported torch
        return None
    return cast(Allocator, cuda)


def describe_device() -> str | None:
    device = allocator()
    return None if device is None else str(device.get_device_name(device.current_device()))


def allocated_bytes() -> int | None:
    device = allocator()
    return None if device is None else device.memory_allocated()


class DevicePeak:
    """The highest device memory inside a stretch of code. Nested stretches share one counter of torch's.

    Entering an inner stretch resets the counter, so what it had reached is first handed to the outer ones.
    """

    def __init__(self) -> None:
        self._open: list[list[int]] = []  # [allocated at entry, peak so far]; empty without a device

    def enter(self) -> list[int]:
        """What `leave` is to be given: spans may end in any order."""
        device = allocator()
        entry: list[int] = []
        if device is not None:
            self._spread(device.max_memory_allocated())
            device.reset_peak_memory_stats()
            entry = [device.memory_allocated()] * 2
        self._open.append(entry)
        return entry

    def leave(self, entry: list[int]) -> int | None:
        """The rise above the level at entry, or None without a device."""
        device = allocator()
        if device is not None:
            self._spread(device.max_memory_allocated())
        self._open = [other for other in self._open if other is not entry]
        return entry[1] - entry[0] if device is not None and entry else None

    def _spread(self, reached: int) -> None:
        for entry in filter(None, self._open):
            entry[1] = max(entry[1], reached)
