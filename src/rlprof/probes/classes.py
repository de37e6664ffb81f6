"""Seeing each class of the user's own files as it is made.

Every class statement calls `builtins.__build_class__`. A replacement calls the original first and looks at the result
afterwards; a class of a library costs it one look-up of the file it is from.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlprof import _core
from rlprof.probes.arrivals import watch_arrivals
from rlprof.probes.own_code import is_own_file
from rlprof.probes.patching import Patches
from rlprof.record.complain import complain

Made = Callable[[type], None]


def watch_classes(made: Made, patches: Patches) -> None:
    """Call `made` with every class of the user's own, those there are and those to come."""
    tell = _carefully(made, patches)

    def look(arguments: tuple[Any, ...], cls: Any) -> None:
        if is_own_file(arguments[0].__code__.co_filename):
            tell(cls)

    watch_arrivals(tell, patches, last=True)
    patches.function(builtins, "__build_class__", lambda original: _core.Observed(original, look))
    for module in tuple(sys.modules.values()):
        for cls in _classes_of(module):
            tell(cls)


def _carefully(made: Made, patches: Patches) -> Callable[[Any], None]:
    """A metaclass may make anything, and answer to anything: what fails here is ours, and ends the looking."""

    def tell(cls: Any) -> None:
        if not isinstance(cls, type):
            return
        try:
            made(cls)
        except Exception as error:
            patches.undo()
            complain("classes", f"classes of the program are not looked at any more: {error!r}")

    return tell


def _classes_of(module: Any) -> list[type]:
    if not isinstance(module, ModuleType):
        return []
    names = vars(module)
    file = names.get("__file__")
    if not isinstance(file, str) or not is_own_file(file):
        return []
    return [value for value in list(names.values()) if isinstance(value, type) and value.__module__ == module.__name__]
