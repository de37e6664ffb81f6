"""What each line of the program sent from the host to a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlprof.model.recording import Recording


@dataclass(frozen=True, slots=True)
class Upload:
    file: str
    line: int
    calls: int
    bytes: int


def uploads_of(recording: Recording) -> list[Upload]:
    """Those of the main process; none where it has no device."""
    facts = recording.main.facts.get("uploads")
    found: list[Upload] = []
    for fact in facts if isinstance(facts, list) else ():
        if not isinstance(fact, Mapping) or not isinstance(fact.get("file"), str):
            continue
        numbers = [fact.get(name) for name in ("line", "calls", "bytes")]
        if all(type(number) is int and number >= 0 for number in numbers):
            found.append(Upload(fact["file"], *numbers))  # type: ignore[arg-type]
    return found
