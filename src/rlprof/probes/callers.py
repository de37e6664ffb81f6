"""Which line of the program leads to a call that a probe looks at."""

from __future__ import annotations

import sys
from types import FrameType

from rlprof.model.own_files import is_users


def users_place() -> tuple[str, int, str]:
    """File, line and function of the innermost line of the user's; empty where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_users(code.co_filename):
            return code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)
        frame = frame.f_back
    return "", 0, ""
