"""A real pseudo-terminal with an emulated screen on it: what a person would see of a command, row by row."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte

DEADLINE = 120.0


class Screen:
    """A command in the foreground of a terminal of its own."""

    def __init__(self, command: Sequence[str], folder: Path, columns: int = 80, rows: int = 24) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "xterm-256color"
            time.sleep(0.2)  # until the terminal has its size
            os.execv(sys.executable, [sys.executable, "-m", "rlprof", *command])
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._columns = columns
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=0.01)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""

    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._screen.display]

    def everything(self) -> list[str]:
        """All rows, those that have scrolled away first."""
        gone = ["".join(row[x].data for x in range(self._columns)).rstrip() for row in self._screen.history.top]
        return gone + self.rows()

    def cell(self, row: int, column: int) -> pyte.screens.Char:
        """One character with its colours."""
        return self._screen.buffer[row][column]

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def read_until(self, seen: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + DEADLINE
        while not seen():
            assert time.monotonic() < deadline, f"waited in vain for {what}:\n" + "\n".join(self.rows())
            assert self._read(), f"ended before {what}:\n" + "\n".join(self.everything())

    def end(self) -> int:
        """Read to the end: the exit code, negative for a signal."""
        deadline = time.monotonic() + DEADLINE
        while self._read():
            assert time.monotonic() < deadline, "it does not end:\n" + "\n".join(self.rows())
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        """Take what is there; False at the end."""
        if not select.select([self._terminal], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._terminal, 1 << 16)
        except OSError:  # nobody holds the other end any more
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)
