"""What a reader or a merge has to say about a recording as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rlprof.model.errors import NotARecording
from rlprof.model.recording import RecordedWarning
from rlprof.recording.place import target_of

UNREADABLE: Final = "part-unreadable"


def unreadable_part(part: Path, error: Exception) -> RecordedWarning:
    return RecordedWarning(
        UNREADABLE, f"the part {part.name} could not be read: {error}", f"it was left in {part.parent}"
    )


def silent_processes(count: int) -> RecordedWarning:
    return RecordedWarning(
        "process-silent",
        f"{count} process{'es' if count > 1 else ''} ended before the first write, half a second after the start",
        "nothing needs to be done; a process that leaves by os._exit or is killed takes its last second with it",
    )


def no_readable_part(parts: Path, warnings: Sequence[RecordedWarning]) -> NotARecording:
    return NotARecording(f"nothing in {parts} can be read: {warnings[0].message}")


def still_running(count: int) -> RecordedWarning:
    return RecordedWarning(
        "process-still-running",
        f"{count} process{'es' if count > 1 else ''} still ran when the run's parts were joined",
        "what they did afterwards is not in the recording; let the program wait for its workers",
    )


def unmerged(parts: Path) -> RecordedWarning:
    return RecordedWarning(
        "unmerged",
        "the run ended before its parts were joined; what they hold is shown",
        f"`rlprof merge {parts}` joins them into {target_of(parts).name}",
    )
