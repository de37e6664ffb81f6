"""Drawing from a replay buffer: its time, and that what is asked of networks next may be for learning."""

from __future__ import annotations

from rlprof import _core
from rlprof.probes.groups import BUFFER
from rlprof.record.wrap import Wrap, outermost


def drawing(*, whole: bool = False) -> Wrap:
    """Around a method that returns a batch of what was stored."""
    return outermost("buffer.sample", "buffer.sample", BUFFER, after=_core.note_sample, whole=whole)
