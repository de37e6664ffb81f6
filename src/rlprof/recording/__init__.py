"""The file a run leaves behind: its layout, writing it, merging it, reading it back.

Writing needs the standard library alone; reading needs NumPy, which is loaded when somebody reads.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlprof.model.recording import Recording

__all__ = ["open_recording"]


def open_recording(name: str | os.PathLike[str]) -> Recording:
    """Read a recording by the name of its file or of its directory of parts."""
    from rlprof.recording.reader import open_recording as read

    return read(name)
