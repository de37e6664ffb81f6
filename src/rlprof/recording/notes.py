"""What a reader or a merge has to say about a recording as a whole."""

from __future__ import annotations

from pathlib import Path

from rlprof.model.recording import RecordedWarning
from rlprof.recording.place import target_of


def unreadable_part(part: Path, error: Exception) -> RecordedWarning:
    return RecordedWarning(
        "part-unreadable", f"the part {part.name} could not be read: {error}", f"it was left in {part.parent}"
    )


def silent_processes(count: int) -> RecordedWarning:
    return RecordedWarning(
        "process-silent",
        f"{count} process{'es' if count > 1 else ''} ended before the first write, half a second after the start",
        "nothing needs to be done; a process that leaves by os._exit or is killed takes its last second with it",
    )


def unmerged(parts: Path) -> RecordedWarning:
    return RecordedWarning(
        "unmerged",
        "the run ended before its parts were joined; what they hold is shown",
        f"`rlprof merge {parts}` joins them into {target_of(parts).name}",
    )
