"""Lines of the user's source of which the recording has noted what they are: loops from item to item, pauses."""

from __future__ import annotations

from rlprof.model.recording import Recording


class NotedLines:
    """Says whether a line is among those of a fact: {file: [(first line, last line)]}."""

    def __init__(self, recording: Recording, fact: str) -> None:
        noted = recording.main.facts.get(fact)
        self._by_file = {
            file: [(row[0], row[1]) for row in rows if _is_range(row)]
            for file, rows in (noted.items() if isinstance(noted, dict) else ())
            if isinstance(rows, list)
        }

    def has(self, file: str, line: int) -> bool:
        return any(first <= line <= last for first, last in self._by_file.get(file, ()))

    def any_within(self, file: str, first: int, last: int) -> bool:
        return any(first <= begin and end <= last for begin, end in self._by_file.get(file, ()))


def _is_range(row: object) -> bool:
    """A recording may be damaged."""
    return isinstance(row, list | tuple) and len(row) == 2 and all(isinstance(value, int) for value in row)
