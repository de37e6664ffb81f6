"""A progress bar of one line on standard error, for programs that train."""

from __future__ import annotations

import sys
import time

WIDTH = 30


class Progress:
    """Redraws its line on a terminal, at most ten times a second; elsewhere it says once that it is done."""

    def __init__(self, title: str, total: int) -> None:
        self.title = title
        self.total = max(total, 1)
        self.started = time.perf_counter()
        self.drawn = -1.0
        self.live = sys.stderr.isatty()

    def update(self, done: int, note: str = "") -> None:
        done = min(done, self.total)
        passed = time.perf_counter() - self.started
        last = done == self.total
        if not last and (not self.live or passed - self.drawn < 0.1):
            return
        self.drawn = passed
        filled = WIDTH * done // self.total
        left = "" if last or not done else f", {passed / done * (self.total - done):.0f} s left"
        bar = "#" * filled + "." * (WIDTH - filled)
        line = f"{self.title} [{bar}] {done}/{self.total}  {passed:.0f} s{left}  {note}"
        sys.stderr.write(f"\r{line:<100}" if self.live else line.rstrip())
        sys.stderr.write("\n" if last else "")
        sys.stderr.flush()

    def say(self, line: str) -> None:
        """Print a line in the bar's place; the bar comes back below it."""
        if self.live:
            sys.stderr.write(f"\r{'':<100}\r")
            sys.stderr.flush()
        print(line, flush=True)
        self.drawn = -1.0
