"""A few lines of source around a place, read while the page is made, where the file is still what it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

AROUND: Final = 3
LONGEST_LINE: Final = 160
LARGEST_FILE: Final = 2_000_000
MOST_FILES: Final = 200
#: A recording may come from anybody and name any file: only what is a program's source is looked into.
SOURCE: Final = (".py", ".pyw", ".pyx")


@dataclass
class Excerpts:
    """Excerpts by place, each once; `number` is None where there is nothing to show."""

    started: str  # when the run began, ISO 8601: what was changed later may have other lines
    entries: list[dict[str, Any]] = field(default_factory=list)
    _numbers: dict[tuple[str, int], int | None] = field(default_factory=dict)
    _files: dict[str, list[str] | None] = field(default_factory=dict)

    def number(self, file: str, line: int) -> int | None:
        place = (file, line)
        if place not in self._numbers:
            self._numbers[place] = self._read(file, line)
        return self._numbers[place]

    def _read(self, file: str, line: int) -> int | None:
        lines = self._lines(file)
        if lines is None or not 1 <= line <= len(lines):
            return None
        first = max(line - AROUND, 1)
        shown = lines[first - 1 : line + AROUND]
        self.entries.append({"first": first, "line": line, "lines": list(_dedented(shown))})
        return len(self.entries) - 1

    def _lines(self, file: str) -> list[str] | None:
        if file not in self._files:
            enough = len(self._files) >= MOST_FILES
            self._files[file] = None if enough else _source_of(file, self.started)
        return self._files[file]


def _dedented(lines: Iterable[str]) -> Iterable[str]:
    wide = [line.expandtabs(4).rstrip() for line in lines]
    margin = min((len(line) - len(line.lstrip()) for line in wide if line.strip()), default=0)
    return (line[margin:][:LONGEST_LINE] for line in wide)


def _source_of(file: str, started: str) -> list[str] | None:
    """The lines of a source file that is there, is one, and was not changed since the run began."""
    if not file.endswith(SOURCE) or not os.path.isabs(file):
        return None
    try:
        # Not followed by a wait: what is named like a source may be a pipe.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            about = os.fstat(descriptor)
            unfit = not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_FILE
            if unfit or about.st_mtime > datetime.fromisoformat(started).timestamp():
                return None
            return stream.read(LARGEST_FILE).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return None
