"""Resident memory: a cheap reading for the sampler, and the exact peak of single spans."""

from __future__ import annotations

import os
import threading
from typing import Any

import psutil

from rlprof import _core
from rlprof.model.kinds import MEMORY
from rlprof.record.device import DevicePeak


class RssReader:
    """Reads the resident size of this process, by the quickest way the system has."""

    def __init__(self) -> None:
        self._page = 0
        self._statm: int | None = None
        try:
            self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            self._page = os.sysconf("SC_PAGESIZE")
        except (OSError, AttributeError, ValueError):
            self._process = psutil.Process()

    def read(self) -> int:
        if self._statm is None:
            return int(self._process.memory_info().rss)
        return int(os.pread(self._statm, 128, 0).split()[1]) * self._page

    def close(self) -> None:
        if self._statm is not None:
            os.close(self._statm)
            self._statm = None


class PeakReader:
    """The highest resident size since `restart`, as the kernel counted it.

    Linux keeps a high-water mark per process and lets a process reset its own. Elsewhere there is none, and the
    sizes at entry and exit have to do.
    """

    def __init__(self) -> None:
        self._rss = RssReader()
        self.exact = self._try_reset()

    def _try_reset(self) -> bool:
        try:
            with open("/proc/self/clear_refs", "wb", buffering=0) as file:
                file.write(b"5")
            return self._high_water() is not None
        except OSError:
            return False

    def restart(self) -> None:
        if self.exact:
            with open("/proc/self/clear_refs", "wb", buffering=0) as file:
                file.write(b"5")

    def current(self) -> int:
        return self._rss.read()

    def peak(self) -> int:
        high = self._high_water() if self.exact else None
        return self._rss.read() if high is None else high

    @staticmethod
    def _high_water() -> int | None:
        with open("/proc/self/status", "rb", buffering=0) as file:
            for line in file.read(8192).splitlines():
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
        return None


class PeakTracker:
    """Exact peaks of nested spans from one high-water mark: entering one hands the mark to those around it first."""

    def __init__(self, reader: PeakReader) -> None:
        self._reader = reader
        self._device = DevicePeak()
        self._open: list[list[int]] = []  # [resident at entry, peak so far]
        self._lock = threading.Lock()

    def enter(self) -> list[int]:
        with self._lock:
            self._spread(self._reader.peak())
            self._reader.restart()
            self._device.enter()
            now = self._reader.current()
            entry = [now, now]
            self._open.append(entry)
            return entry

    def leave(self, entry: list[int]) -> tuple[int, int, int]:
        """Peak, rise above the level at entry, and the device's rise (-1 without one)."""
        with self._lock:
            self._spread(self._reader.peak())
            for i in range(len(self._open) - 1, -1, -1):
                if self._open[i] is entry:
                    del self._open[i]
                    break
            device = self._device.leave()
            return entry[1], max(0, entry[1] - entry[0]), -1 if device is None else device

    def _spread(self, reached: int) -> None:
        for entry in self._open:
            entry[1] = max(entry[1], reached)


class MemorySpan:
    """A span that also measures the exact peak of memory during it. The time that takes is booked as rlprof's own."""

    __slots__ = ("_entry", "_path", "_span", "_tracker")

    def __init__(self, tracker: PeakTracker, name: str, phase: str | None) -> None:
        self._tracker = tracker
        self._span: Any = _core.span_of_kind(name, phase, MEMORY)
        self._entry: list[int] | None = None
        self._path = 0

    def __enter__(self) -> MemorySpan:
        started = _core.clock_ns()
        self._entry = self._tracker.enter()
        _core.charge(_core.clock_ns() - started)
        self._span.__enter__()
        self._path = _core.open_path_here()
        _core.track_memory_of(self._path)
        return self

    def __exit__(self, *error: object) -> None:
        self._span.__exit__(*error)
        started = _core.clock_ns()
        if self._entry is not None:
            _core.note_memory(self._path, *self._tracker.leave(self._entry))
            self._entry = None
        _core.charge(_core.clock_ns() - started)
