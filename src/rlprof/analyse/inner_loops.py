"""Loops inside of the training loop that neither step environments nor ask networks: each is a work of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.ledger import open_account
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.stacks import lines_in_common, lines_on_stacks
from rlprof.model.own_files import is_users
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording

#: Where environments are stepped and networks asked: a loop around one of these is the training loop, or a part of it.
TRAINING: Final = ("env.step", "env.wait", "policy.forward", "learn.loss", "learn.backward", "learn.optimizer")

#: A line that so many stacks of a part have in common calls it, if other things happen there as well.
CALL_SHARE: Final = 0.97


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """The outermost loop of its lines that trains nothing. `backwards`: it, or a loop in it, goes back in time."""

    file: str
    first: int
    last: int
    backwards: bool


class InnerLoops:
    """Finds the inner loop that a line belongs to."""

    def __init__(self, recording: Recording) -> None:
        self._by_file = {file: _loops(file, rows) for file, rows in _noted(recording).items()}
        self._comprehensions = NotedLines(recording, "comprehensions")
        self._account = open_account(recording.main)
        self._lines = {part: lines_on_stacks(self._account, part) for part in (TRAINING if self._by_file else ())}
        self._trains = {line for lines in self._lines.values() for line in lines}

    def around(self, file: str, line: int) -> InnerLoop | None:
        """None where the line is in no loop, or only in such that train."""
        inside = [loop for loop in self._by_file.get(file, ()) if loop.first <= line <= loop.last]
        quiet = [loop for loop in inside if not self._training(loop)]
        if not quiet:
            return None
        outer = max(quiet, key=lambda loop: loop.last - loop.first)
        within = [loop for loop in self._by_file[file] if outer.first <= loop.first and loop.last <= outer.last]
        return InnerLoop(file, outer.first, outer.last, any(loop.backwards for loop in within))

    def innermost(self, file: str, line: int) -> InnerLoop | None:
        """The smallest loop around a line, whatever it does."""
        inside = [loop for loop in self._by_file.get(file, ()) if loop.first <= line <= loop.last]
        return min(inside, key=lambda loop: loop.last - loop.first, default=None)

    def goes_round(self, file: str, line: int) -> bool:
        """Whether a line stands in a loop or a comprehension, whatever that does."""
        return self.innermost(file, line) is not None or self._comprehensions.has(file, line)

    def may_be_in(self, part: str) -> bool:
        """Whether a part of training may pass in a loop of its own: not where the user's lines on its stacks are in
        none, nor in a comprehension. Loops around its call, or around other parts, are none of its own.
        """
        outside = {line for name, lines in self._lines.items() if name != part for line in lines}
        outside |= lines_in_common(self._account, part, CALL_SHARE) & lines_on_stacks(self._account, UNATTRIBUTED)
        lines = [(file, line) for file, line in self._lines.get(part, ()) if is_users(file)]
        return not lines or any(self._may_hold(file, line, outside) for file, line in lines)

    def _may_hold(self, file: str, line: int, outside: set[tuple[str, int]]) -> bool:
        if file not in self._by_file or self._comprehensions.has(file, line):
            return True  # its source is not known, or says so
        around = [loop for loop in self._by_file[file] if loop.first <= line <= loop.last]
        return any(not any((file, n) in outside for n in range(loop.first, loop.last + 1)) for loop in around)

    def _training(self, loop: InnerLoop) -> bool:
        return any((loop.file, line) in self._trains for line in range(loop.first, loop.last + 1))


def _loops(file: str, rows: Sequence[object]) -> list[InnerLoop]:
    return [
        InnerLoop(file, row[0], row[1], bool(row[2]))
        for row in rows
        if isinstance(row, list | tuple) and len(row) == 3 and all(isinstance(value, int) for value in row)
    ]


def _noted(recording: Recording) -> dict[str, Sequence[object]]:
    """A fact of the recording, which may be damaged or of an older version."""
    noted = recording.main.facts.get("loops")
    if not isinstance(noted, dict):
        return {}
    return {file: rows for file, rows in noted.items() if isinstance(file, str) and isinstance(rows, list)}
