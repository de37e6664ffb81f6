"""The two threads beside the program: one writes about twice a second, one samples stacks and memory."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from rlprof import _core
from rlprof.record.complain import complain
from rlprof.record.crowd import times_slower
from rlprof.record.device import allocated_bytes, allocator
from rlprof.record.flush import Flusher
from rlprof.record.memory import RssReader
from rlprof.record.options import (
    FIRST_SAMPLER_HZ,
    FLUSH_SECONDS,
    FLUSH_SHARE,
    MEMORY_HZ,
    SAMPLER_SETTLES_SECONDS,
    SLOWEST_FLUSH_SECONDS,
    Options,
)

Failed = Callable[[Exception], None]

SMOOTHING: Final = 0.2  # how much a new flush says about what one costs
STOP_SECONDS: Final = 2.0  # how long to wait for a thread that is in the middle of a write

#: Idents of rlprof's own threads, for those who look at threads and mean the program's.
OWN_THREADS: Final[set[int]] = set()


class Ticker:
    """Calls a function at a steady rate in a thread of its own until told to stop.

    A beat that comes late is not made up for: catching up would only add load to a machine that has too much.
    """

    def __init__(self, name: str, seconds: float, beat: Callable[[], None], failed: Failed) -> None:
        self._seconds = seconds
        self._beat = beat
        self._failed = failed
        self._last: Callable[[], None] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def change_beat(self, seconds: float) -> None:
        """Called by a beat, it counts from that one."""
        self._seconds = seconds

    def stop(self, last: Callable[[], None] | None = None) -> bool:
        """Whether it has ended: a write to a disk that hangs is not waited for. `last` is the thread's last act."""
        self._last = last
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_SECONDS)
            return not self._thread.is_alive()
        if last is not None:
            last()
        return True

    def _run(self) -> None:
        OWN_THREADS.add(threading.get_ident())
        try:
            self._keep_time()
            if self._last is not None:
                self._last()
        except Exception as error:
            # A fault of ours must not reach the program, nor be repeated a hundred times a second.
            self._failed(error)
        finally:
            OWN_THREADS.discard(threading.get_ident())

    def _keep_time(self) -> None:
        due = time.monotonic() + self._seconds
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            self._beat()
            due = max(due + self._seconds, time.monotonic())


class Sampler:
    """The thread that samples stacks and memory. The core keeps its time, so that the program is hardly ever stopped.

    What the core cannot read by itself, a device's memory and that of systems without /proc, is read here.
    """

    def __init__(self, options: Options, flusher: Flusher, failed: Failed) -> None:
        self._stack_hz = FIRST_SAMPLER_HZ if options.sampler_hz is None else options.sampler_hz
        self._settles = options.sampler_hz is None
        self._began = time.monotonic()
        self._flusher = flusher
        self._failed = failed
        self._rss = RssReader() if options.memory else None
        self._thread = threading.Thread(target=self._run, name="rlprof-sampler", daemon=True)
        self._times_slower = 1
        self._stacks_slower = 1
        self._changing = threading.Lock()  # around all that begins and ends the core's beat
        self._beating = False
        self._ended = False

    def start(self) -> None:
        self._begin()
        self._thread.start()

    def _begin(self) -> None:
        memory = 0.0 if self._rss is None else 1.0 / MEMORY_HZ
        seconds = self._stacks_slower / self._stack_hz if self._stack_hz > 0 else memory
        slower = self._times_slower
        _core.begin_beat(seconds * slower, memory * slower, self._stack_hz > 0, sys._current_frames)
        self._beating = True

    def _end(self) -> None:
        if self._beating:
            self._beating = False
            _core.end_beat()

    def slow_down(self, times: int) -> None:
        """Sample so many times more seldom than asked for; where no rate was asked for, stacks settle by and by."""
        settled = self._settles and time.monotonic() - self._began > SAMPLER_SETTLES_SECONDS
        stacks = 2 if settled else 1
        with self._changing:
            if (times, stacks) != (self._times_slower, self._stacks_slower) and not self._ended:
                self._times_slower, self._stacks_slower = times, stacks
                self._end()  # the thread begins anew

    def stop(self) -> bool:
        with self._changing:
            self._ended = True
            self._end()
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_SECONDS)
        if self._thread.is_alive():
            return False
        if self._rss is not None:
            self._rss.close()
        return True

    def watch_device(self) -> None:
        """A program may begin to use a device at any time."""
        if self._rss is not None:
            _core.read_memory_in_python(allocator() is not None)

    def _run(self) -> None:
        try:
            while not self._ended:
                while _core.keep_beat():
                    self._read_memory()
                with self._changing:
                    if not self._ended:
                        self._begin()
        except Exception as error:
            # A fault of ours must not reach the program, nor be repeated a hundred times a second.
            self._failed(error)

    def _read_memory(self) -> None:
        started = time.thread_time_ns()
        assert self._rss is not None
        rss = self._rss.read()
        _core.note_rss(rss)
        self._flusher.note_memory(_core.clock_ns(), rss, allocated_bytes())
        _core.charge(time.thread_time_ns() - started, threading.main_thread().ident)


def seconds_between_flushes(cost: float) -> float:
    """For flushes that take `cost` seconds each."""
    return min(max(FLUSH_SECONDS, cost / FLUSH_SHARE), SLOWEST_FLUSH_SECONDS)


class Background:
    """Starts and stops the threads that a recording needs."""

    def __init__(self, flusher: Flusher, options: Options, flush: Callable[[], None], give_up: Failed) -> None:
        self._flusher = flusher
        self._options = options
        self._flush = flush
        self._give_up = give_up
        self._writer_failed = False  # what failed once is not started again after a fork
        self._sampler_failed = False
        self._writer: Ticker | None = None
        self._sampler: Sampler | None = None
        self._flush_cost = 0.0  # seconds of one, of late

    def start(self) -> None:
        if self._writer is None and not self._writer_failed:
            self._writer = Ticker("rlprof-writer", FLUSH_SECONDS, self._write, self._stop_writing)
            self._writer.start()
        wanted = self._options.sampler_hz != 0 or self._options.memory
        if self._sampler is None and wanted and not self._sampler_failed:
            self._sampler = Sampler(self._options, self._flusher, self._stop_sampling)
            self._sampler.start()

    def stop(self, last: Callable[[], None] | None = None) -> bool:
        """Whether all threads have ended. `last` is run by the writer, so that nobody else waits for the disk."""
        sampler, self._sampler = self._sampler, None
        writer, self._writer = self._writer, None
        ended = sampler is None or sampler.stop()
        if writer is not None:
            return writer.stop(last) and ended
        if last is not None:
            last()
        return ended

    def _write(self) -> None:
        began = time.thread_time()
        self._flush()
        self._flush_cost += SMOOTHING * (time.thread_time() - began - self._flush_cost)
        sampler = self._sampler
        if sampler is not None:
            sampler.watch_device()
        slower = 1
        if self._flusher.identity.role != "main":
            # Hundreds of workers must not spend the few cores that they share on writing and sampling.
            slower = times_slower(self._flusher.store.path)
        if sampler is not None:
            sampler.slow_down(slower)
        if self._writer is not None:
            self._writer.change_beat(seconds_between_flushes(self._flush_cost) * slower)

    def _stop_writing(self, error: Exception) -> None:
        self._writer_failed = True
        self._give_up(error)

    def _stop_sampling(self, error: Exception) -> None:
        self._sampler_failed = True
        message = f"sampling failed and was switched off: {error!r}"
        complain("sampler", f"{message}; the rest is recorded")
        self._flusher.warn("sampler-failed", message, "report it as a fault of rlprof")
