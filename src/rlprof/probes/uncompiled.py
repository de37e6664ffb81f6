"""torch.compile: our own functions that it may leave alone.

Below a function that it could not compile whole, the compiler looks at everything that runs, at our wrappers, too. That
would cost a compile for each, and change the numbers it gives to the program's own.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, Final

from rlprof.probes.patching import Patches

LIBRARY: Final = "torch.compile's list of what to skip"

_codes: list[CodeType] = []  # until the compiler is there to be told
_skip: list[Callable[[CodeType], Any]] = []


def leave_alone(code: CodeType) -> None:
    """Have the compiler skip this code, now or once it is loaded."""
    if _skip:
        _skip[0](code)
    else:
        _codes.append(code)


def install(module: ModuleType, patches: Patches) -> None:
    """`torch._dynamo.eval_frame` is loaded."""
    _skip[:] = [module.skip_code]
    patches.on_undo(_skip.clear)
    _codes.append(leave_alone.__code__)
    while _codes:
        module.skip_code(_codes.pop())


WATCHED: Final = {"torch._dynamo.eval_frame": install}
