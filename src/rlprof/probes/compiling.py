"""Keeping wrappers out of the compiler's sight."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
Wrap = Callable[[Function], Function]


def outside_compiler(wrap: Wrap) -> Wrap:
    """The same wrapper, but while torch traces a program there is only the original. For libraries that load torch."""
    is_compiling: Callable[[], bool] = sys.modules["torch"].compiler.is_compiling

    def careful(original: Function) -> Function:
        watched = wrap(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return original(*args, **kwargs)
            return watched(*args, **kwargs)

        return call

    return careful
