"""Resident memory: a cheap reading for the sampler, and the exact peak of single spans."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
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
    """Exact peaks of nested spans from one high-water mark: entering one hands the mark to those around it first.

    When the system refuses to be asked, `failed` is told once and nothing more is measured.
    """

    def __init__(self, reader: PeakReader, failed: Callable[[Exception], None]) -> None:
        self._reader = reader
        self._failed = failed
        self._device = DevicePeak()
        self._open: list[Stretch] = []
        self._lock = threading.Lock()
        self._off = False

    def enter(self) -> Stretch | None:
        if self._off:
            return None
        try:
            with self._lock:
                self._spread(self._reader.peak())
                self._reader.restart()
                now = self._reader.current()
                stretch = Stretch(now, now, self._device.enter())
                self._open.append(stretch)
                return stretch
        except Exception as error:
            self._give_up(error)
            return None

    def leave(self, stretch: Stretch) -> tuple[int, int, int] | None:
        """Peak, rise above the level at entry, and the device's rise (-1 without one)."""
        try:
            with self._lock:
                self._spread(self._reader.peak())
                self._open = [other for other in self._open if other is not stretch]
                device = self._device.leave(stretch.device)
                return stretch.peak, max(0, stretch.peak - stretch.entry), -1 if device is None else device
        except Exception as error:
            self._give_up(error)
            return None

    def _spread(self, reached: int) -> None:
        for stretch in self._open:
            stretch.peak = max(stretch.peak, reached)

    def _give_up(self, error: Exception) -> None:
        if not self._off:
            self._off = True
            self._open = []
            self._failed(error)


@dataclass(slots=True, eq=False)
class Stretch:
    """One tracked span: resident memory at its entry, the highest since, and the device's figures."""

    entry: int
    peak: int
    device: list[int]


class MemorySpan:
    """A span that also measures the exact peak of memory during it. The time that takes is booked as rlprof's own."""

    __slots__ = ("_open", "_span", "_tracker")

    def __init__(self, tracker: PeakTracker, name: str, phase: str | None) -> None:
        self._tracker = tracker
        self._span: Any = _core.span_of_kind(name, phase, MEMORY)
        self._open: list[tuple[Stretch | None, int]] = []  # with its path; a span may be entered again inside itself

    def __enter__(self) -> MemorySpan:
        started = _core.clock_ns()
        stretch = self._tracker.enter()
        _core.charge(_core.clock_ns() - started)
        self._span.__enter__()
        path = _core.open_path_here()
        if stretch is not None:
            _core.track_memory_of(path)
        self._open.append((stretch, path))
        return self

    def __exit__(self, *error: object) -> None:
        self._span.__exit__(*error)
        started = _core.clock_ns()
        stretch, path = self._open.pop() if self._open else (None, 0)
        measured = self._tracker.leave(stretch) if stretch is not None else None
        if measured is not None:
            _core.note_memory(path, *measured)
        _core.charge(_core.clock_ns() - started)
