"""Keeping out of the sight of torch's compiler: it must find nothing that it cannot look into."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlprof import _core
from rlprof.probes.patching import PLAIN, Patches, Wrap

_is_busy = _core.is_busy

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


def outside_compiler(wrap: Wrap, group: int = 0) -> Wrap:
    """The same wrapper, but while torch traces a program there is only the original. For libraries that load torch.

    With a `group`, calls inside another of that group go to the original, too, and take the shortest way there.
    """
    compiler: Any = sys.modules["torch"].compiler
    compiling: Callable[[], bool] = compiler.is_compiling
    is_traced: Callable[[], bool] = getattr(compiler, "is_dynamo_compiling", compiling)

    def careful(original: Callable[..., Any]) -> Callable[..., Any]:
        watched = wrap(original)
        plain = getattr(original, PLAIN, original)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling():
                return plain(*args, **kwargs)
            return watched(*args, **kwargs)

        def call_in_group(*args: Any, **kwargs: Any) -> Any:
            if is_traced():  # first: what a tracer cannot look into comes after it
                return plain(*args, **kwargs)
            if _is_busy(group):
                return original(*args, **kwargs)
            if compiling():
                return plain(*args, **kwargs)
            return watched(*args, **kwargs)

        return call_in_group if group else call

    return careful
