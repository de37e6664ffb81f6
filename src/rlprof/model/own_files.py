"""Whose a file of code is: the user's, a library's or rlprof's."""

from __future__ import annotations

import re
from typing import Final

#: Installed packages, the standard library on any platform, rlprof itself, and what has no file. The recording may come
#: from another machine, so paths are told apart by their shape and not by where this interpreter lies.
_NOT_THE_USERS: Final = re.compile(
    r"(^<)"
    r"|([\\/](site|dist)-packages[\\/])"
    r"|([\\/]lib(64)?[\\/]python\d+(\.\d+)?t?[\\/])"
    r"|([\\/]python[\d.\-]*[\\/]lib[\\/])"
    r"|([\\/]python\d+\.zip[\\/])",
    re.IGNORECASE,
)
#: Wherever it lies; a checkout of rlprof holds programs that are not rlprof, so the folder's name is not enough.
_OURS: Final = re.compile(
    r"[\\/]rlprof[\\/](cli|integrations|probes|record|recording|model|analyse|advise|experiments|render)[\\/]"
    r"|[\\/]rlprof[\\/](profiler|__main__|__init__|_core)\."
)
#: Programs as users write them, wherever rlprof is installed.
_DEMO: Final = re.compile(r"[\\/]rlprof[\\/]demos[\\/]")


def is_users(file: str) -> bool:
    """Whether a file is the user's own."""
    if _DEMO.search(file) is not None:
        return True
    return bool(file) and _NOT_THE_USERS.search(file) is None and _OURS.search(file) is None


def is_ours(file: str) -> bool:
    """Whether a frame of this file is rlprof's, or has no file at all."""
    return file.startswith("<") or _OURS.search(file) is not None
