"""Runs that took turns between two ways of doing something: `rlprof.alternate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rlprof.model.recording import Process

FACT: Final = "alternate"  # as record/alternation.py notes it
LONGEST_LABEL: Final = 80


def alternated(process: Process) -> dict[str, list[str]]:
    """The names and values that alternated, as the recording says them: it may say anything."""
    said = process.facts.get(FACT)
    if not isinstance(said, Mapping):
        return {}
    return {
        str(name): [str(value)[:LONGEST_LABEL] for value in values]
        for name, values in said.items()
        if isinstance(values, list) and len(values) == 2
    }
