"""Making room for a new recording under a name that is taken."""

from __future__ import annotations

import shutil
from pathlib import Path

from rlprof.model.errors import OutputExists, RlprofError
from rlprof.recording.place import named, parts_of
from rlprof.recording.reader import open_recording


def discard(target: Path) -> None:
    """Remove the recording of that name, merged or in parts, unless its run is still going on."""
    target = named(target)
    parts = parts_of(target)
    if parts.is_dir():
        if _is_running(parts):
            raise OutputExists(f"{target} is being written by a run that is still going on: choose another --out")
        shutil.rmtree(parts)
    if target.is_dir():
        raise OutputExists(f"{target} is a directory: choose another --out")
    target.unlink(missing_ok=True)


def _is_running(parts: Path) -> bool:
    try:
        return open_recording(parts).status == "running"
    except RlprofError:
        return False
