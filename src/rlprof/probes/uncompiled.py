"""torch.compile: our own functions that it may leave alone.

Below a function that it could not compile whole, the compiler looks at everything that runs: at our wrappers, and at
whatever the interpreter calls in between, as at a garbage collection. That would cost a compile for each, and change
the numbers it gives to the program's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from rlprof.probes.patching import Patches

LIBRARY: Final = "torch.compile's list of what to skip"

OURS: Final = "rlprof."

#: Where functions inside of functions are skipped, too. Elsewhere they are wrappers of what a program may hand to the
#: compiler itself (an environment's step, say), which looks through those.
CALLED_IN_BETWEEN: Final = {
    f"rlprof.{name}"
    for name in (
        "probes.classes",
        "probes.importing",
        "probes.install",
        "probes.marked_ranges",
        "probes.patching",
        "probes.torch",
        "probes.torch_compile",
        "probes.torch_modules",
        "probes.torch_sites",
        "probes.user_code",
        "record.sites",
    )
}

_codes: list[CodeType] = []  # until the compiler is there to be told
_skip: list[Callable[[CodeType], Any]] = []


def leave_alone(code: CodeType) -> None:
    """Have the compiler skip code that was made while the program runs, now or once the compiler is loaded."""
    if _skip:
        _skip[0](code)
    else:
        _codes.append(code)


def install(module: ModuleType, patches: Patches) -> None:
    """`torch._dynamo.eval_frame` is loaded."""
    _skip[:] = [module.skip_code]
    patches.on_undo(_skip.clear)
    for code in _written_here():
        module.skip_code(code)
    while _codes:
        module.skip_code(_codes.pop())


def _written_here() -> Iterator[CodeType]:
    """The code in those of our modules that are loaded."""
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS):
            for value in list(vars(module).values()):
                if getattr(value, "__module__", None) == name:
                    for code in _codes_of(value):
                        yield from _with_those_inside(code) if name in CALLED_IN_BETWEEN else (code,)


def _codes_of(value: Any) -> Iterator[CodeType]:
    if isinstance(value, type):
        for part in list(vars(value).values()):
            yield from _codes_of(part)
    elif isinstance(value, property):
        for accessor in (value.fget, value.fset, value.fdel):
            yield from _codes_of(accessor)
    else:
        function = getattr(value, "__func__", value)  # of a class method and a static one
        if isinstance(function, FunctionType):
            yield function.__code__


def _with_those_inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _with_those_inside(part)


WATCHED: Final = {"torch._dynamo.eval_frame": install}
