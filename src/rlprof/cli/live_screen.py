"""`rlprof run --live`: the dashboard at the lower end of the terminal, while the program writes above it.

The program keeps the terminal as its own: what it writes does not pass through rlprof, so that nothing of it can be
lost, held up or changed. The terminal is told to scroll its upper rows only (as `apt` does), and the rows below are
drawn each time in a single write that leaves the cursor where it was.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from types import FrameType
from typing import Final

from rich.console import Console

from rlprof.cli.companions import Companion
from rlprof.cli.look import Look
from rlprof.render.dashboard import small_dashboard

_SAVE, _RESTORE, _DOWN = "\x1b7", "\x1b8", "\x1bD"
MOST_ROWS: Final = 14
#: With fewer rows than this there is no room for both.
SMALLEST_TERMINAL: Final = 10
WHY_NOT: Final = "--live needs a terminal: going on without (`rlprof watch` looks on from another one)"


def live_screen() -> LiveScreen | None:
    """The screen; None where standard output is no terminal that can be drawn on."""
    console = Console()
    if not sys.stdout.isatty() or console.is_dumb_terminal or sys.platform == "win32":
        return None
    return LiveScreen(sys.stdout.fileno(), console)


class LiveScreen(Companion):
    """The lower rows of a terminal."""

    name = "dashboard"

    def __init__(self, terminal: int, console: Console) -> None:
        self._terminal = terminal
        self._plain = console.options.ascii_only
        self._size: os.terminal_size | None = None  # of the terminal, when its rows were last shared out
        self._rows = 0  # that were taken
        self._lock = threading.RLock()
        self._before = signal.getsignal(signal.SIGTSTP)
        if self._before == signal.SIG_DFL:  # in the program itself it is the default again
            signal.signal(signal.SIGTSTP, self._stop)

    def see(self, look: Look) -> None:
        size = os.get_terminal_size(self._terminal)
        if size.lines < SMALLEST_TERMINAL:
            self._give_back()
            return
        lines = self._lines(look, size.columns, min(size.lines // 2, MOST_ROWS))
        with self._lock:
            if self._is_ours():
                self._draw(lines, size)

    def _is_ours(self) -> bool:
        """In the background the terminal is somebody else's."""
        try:
            return os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:  # it controls no jobs
            return True

    def _draw(self, lines: list[str], size: os.terminal_size) -> None:
        if self._size != size:
            self._size, self._rows = size, 0
        rows = max(len(lines), self._rows)  # what was taken is kept: rows that come and go would be restless
        begin = _make_room(rows - self._rows)
        self._rows = rows
        top = size.lines - rows
        padded = lines + [""] * (rows - len(lines))
        drawn = "".join(f"\x1b[{top + number};1H\x1b[2K{line}" for number, line in enumerate(padded, start=1))
        self._write(f"{begin}{_SAVE}\x1b[1;{top}r{drawn}\x1b[0m{_RESTORE}")

    def see_last(self, look: Look) -> None:
        """The report comes next, and says all of it."""
        self._give_back()

    def close(self) -> None:
        self._give_back()
        if signal.getsignal(signal.SIGTSTP) == self._stop:
            signal.signal(signal.SIGTSTP, self._before)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: the shell gets its terminal as it was. The next look after `fg` draws again."""
        with self._lock:
            self._give_back()
            os.kill(os.getpid(), signal.SIGSTOP)

    def _lines(self, look: Look, width: int, rows: int) -> list[str]:
        buffer = io.StringIO()
        # One column is left free: a full last column makes some terminals begin another row.
        console = Console(file=buffer, width=width - 1, force_terminal=True, legacy_windows=False)
        console.print(
            small_dashboard(look.report, look.course, width - 1, rows, plain=self._plain),
            highlight=False, overflow="crop", no_wrap=True,
        )  # fmt: skip
        return buffer.getvalue().splitlines()[:rows]

    def _give_back(self) -> None:
        """The whole terminal scrolls again, and the rows that were ours are empty."""
        with self._lock:
            if self._size is None:
                return
            top = self._size.lines - self._rows
            self._size = None
            self._write(f"{_SAVE}\x1b[r\x1b[{top + 1};1H\x1b[J{_RESTORE}")

    def _write(self, text: str) -> None:
        # A single write is not interrupted by those of other processes; what cannot be written now is drawn again.
        with contextlib.suppress(OSError):
            os.write(self._terminal, text.encode("utf-8", "replace"))


def _make_room(rows: int) -> str:
    """Move what is on the lowest rows up, the cursor with it, in whichever column it is."""
    return _DOWN * rows + f"\x1b[{rows}A" if rows else ""
