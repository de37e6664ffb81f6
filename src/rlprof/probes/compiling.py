"""Whether torch's compiler is looking at the program: it must find nothing that it cannot look into."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlprof.probes.patching import Patches

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
