"""Which lines of stack samples a user wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rlprof.model.recording import Frame

#: Installed packages, the standard library on any platform, and what has no file. The recording may come from
#: another machine, so paths are told apart by their shape and not by where this interpreter lies.
_NOT_THE_USERS: Final = re.compile(
    r"(^<)"
    r"|([\\/]rlprof[\\/](record|probes)[\\/])"
    r"|([\\/](site|dist)-packages[\\/])"
    r"|([\\/]lib(64)?[\\/]python\d+(\.\d+)?t?[\\/])"
    r"|([\\/]python[\d.\-]*[\\/]lib[\\/])"
    r"|([\\/]python\d+\.zip[\\/])",
    re.IGNORECASE,
)

#: Programs as users write them, wherever rlprof is installed.
_DEMO: Final = re.compile(r"[\\/]rlprof[\\/]demos[\\/]")

#: Deeper stacks than this do not occur; a damaged file could hold a chain without end.
_DEEPEST: Final = 10_000


def is_users(file: str) -> bool:
    """Whether a file is the user's own."""
    return bool(file) and (_NOT_THE_USERS.search(file) is None or _DEMO.search(file) is not None)


def is_importing(frames: Mapping[int, Frame], leaf: int) -> bool:
    """Whether a sample was taken while a module was being loaded: start-up, not work."""
    identity: int | None = leaf
    for _ in range(_DEEPEST):
        frame = frames.get(identity) if identity is not None else None
        if frame is None:
            return False
        if frame.file.startswith("<frozen importlib"):
            return True
        identity = frame.parent
    return False


def users_frame(frames: Mapping[int, Frame], leaf: int) -> Frame | None:
    """The innermost frame the user wrote, from a sample's leaf towards its callers."""
    identity: int | None = leaf
    for _ in range(_DEEPEST):
        frame = frames.get(identity) if identity is not None else None
        if frame is None:
            return None
        if is_users(frame.file):
            return frame
        identity = frame.parent
    return None
