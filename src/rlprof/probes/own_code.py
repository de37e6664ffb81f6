"""Which code is the user's own: neither the standard library's, nor a package's, nor ours but for the demos."""

from __future__ import annotations

import os
import sys
from types import FunctionType, ModuleType
from typing import Any, Final

from rlprof.record.sites import DEMOS_FOLDER, OWN_FOLDER

_STANDARD_LIBRARY: Final = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED: Final = ("site-packages", "dist-packages")

_SUSPENDS: Final = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_MOST_DECORATORS: Final = 8

TREATED: Final = "__rlprof_treated__"  # the attribute of a function that was put in place of one of the program's

_known: dict[str, bool] = {}


def is_own_file(file: str) -> bool:
    """Whether a file, as code objects name it, is the user's."""
    known = _known.get(file)
    if known is None:
        known = _known[file] = _look_at(file)
    return known


def _look_at(file: str) -> bool:
    if file.startswith("<"):  # frozen, or made from a string
        return False
    path = os.path.abspath(file)
    if path.startswith(DEMOS_FOLDER):
        return True
    return not path.startswith((_STANDARD_LIBRARY, OWN_FOLDER)) and not any(part in path for part in _INSTALLED)


def as_written(value: Any) -> Any:
    """The function that the program wrote, where a treatment or a library's decorator stands in its place."""
    held = getattr(value, "__dict__", None)
    if not isinstance(held, dict):
        return value
    value = held.get(TREATED, value)
    inner = value
    for _ in range(_MOST_DECORATORS):
        if not isinstance(inner, FunctionType) or is_own_file(inner.__code__.co_filename):
            break
        inner = inner.__dict__.get("__wrapped__")
    return inner if isinstance(inner, FunctionType) else value


def is_own_function(value: Any) -> bool:
    """Whether this is a plain function written in one of the user's files, or what a decorator made from one.

    Not where that turned a generator into something else, as `contextmanager` does: a call of it does nothing yet.
    """
    if not isinstance(value, FunctionType):
        return False
    written = as_written(value)
    return is_own_file(written.__code__.co_filename) and (written is value or not suspends(written))


def suspends(function: FunctionType) -> bool:
    """Whether a call of it only makes a generator or a coroutine."""
    return bool(function.__code__.co_flags & _SUSPENDS)


def is_own_class(cls: type) -> bool:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return isinstance(file, str) and is_own_file(file)


def names_of_main(main: ModuleType) -> set[str]:
    """What a person may call the program itself: `__main__`, its file's stem, its name after `-m`."""
    names = {"__main__", "__mp_main__"}  # the second is what a spawned worker calls it while it loads it
    file = vars(main).get("__file__") or "".join(sys.argv[:1])  # the first is taken away when the script has ended
    if isinstance(file, str):
        names.add(os.path.splitext(os.path.basename(file))[0])
    spec = vars(main).get("__spec__")
    if spec is not None and isinstance(spec.name, str):
        names |= {spec.name, spec.name.removesuffix(".__main__")}
    return names


def is_called(module: str, name: str) -> bool:
    """Whether a person who names `name` means the module that calls itself `module`."""
    if module == name:
        return True
    main = sys.modules.get("__main__")
    return module in ("__main__", "__mp_main__") and main is not None and name in names_of_main(main)
