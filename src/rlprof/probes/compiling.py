"""Keeping out of the sight of torch's compiler: it must find nothing that it cannot look into."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlprof.probes.patching import PLAIN, Patches, Wrap

is_compiling: Callable[[], bool] = bool  # false, until torch is there to be asked


def follow_compiler(module: ModuleType, patches: Patches) -> None:
    """`torch` is loaded."""
    global is_compiling
    torch: Any = module
    is_compiling = torch.compiler.is_compiling
    patches.on_undo(_forget_compiler)


def _forget_compiler() -> None:
    global is_compiling
    is_compiling = bool


def outside_compiler(wrap: Wrap) -> Wrap:
    """The same wrapper, but while torch traces a program there is only the original. For libraries that load torch."""
    compiling: Callable[[], bool] = sys.modules["torch"].compiler.is_compiling

    def careful(original: Callable[..., Any]) -> Callable[..., Any]:
        watched = wrap(original)
        plain = getattr(original, PLAIN, original)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return plain(*args, **kwargs)
            return watched(*args, **kwargs)

        return call

    return careful
