"""Loops in the user's source that go from item to item, as the recording has noted them."""

from __future__ import annotations

from rlprof.model.recording import Recording


class ItemLoops:
    """Says whether a line is in one of them."""

    def __init__(self, recording: Recording) -> None:
        noted = recording.main.facts.get("item_loops")
        self._by_file = {
            file: [(row[0], row[1]) for row in rows if _is_range(row)]
            for file, rows in (noted.items() if isinstance(noted, dict) else ())
            if isinstance(rows, list)
        }

    def has(self, file: str, line: int) -> bool:
        return any(first <= line <= last for first, last in self._by_file.get(file, ()))


def _is_range(row: object) -> bool:
    """A recording may be damaged."""
    return isinstance(row, list | tuple) and len(row) == 2 and all(isinstance(value, int) for value in row)
