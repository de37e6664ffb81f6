"""Functions and methods of the program that are known by their names, wherever and whenever they appear."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, MutableMapping
from types import ModuleType
from typing import Any

from rlprof.probes.named_functions import is_named
from rlprof.probes.own_code import is_called, is_own_file, is_own_function, suspends
from rlprof.probes.patching import Patches, is_patched
from rlprof.record.targets import Target

Timed = Callable[[str], Callable[[Callable[..., Any]], Callable[..., Any]]]  # by the name that the report lists


def is_plain(value: Any) -> bool:
    """Whether a value is a function of the user's, or a decorated one, that none of ours has wrapped."""
    return is_own_function(value) and not suspends(value) and not is_patched(value) and not is_named(value)


class TellingNames:
    """Looks for functions of one role among the names of the user's modules, and for methods in classes."""

    def __init__(
        self, functions: Collection[str], methods: Collection[str], timed: Timed, patches: Patches,
        exceptions: Collection[Target],
    ) -> None:  # fmt: skip
        self._functions = functions
        self._methods = methods
        self._timed = timed
        self._patches = patches
        self._exceptions = exceptions
        self._seen: set[str] = set()
        self._own: dict[str, ModuleType] = {}

    def made(self, cls: type) -> None:
        """A class of the user's was made."""
        for name in self._methods:
            if is_plain(vars(cls).get(name)) and not self._is_exception(cls.__module__, cls.__qualname__):
                self._patches.method_if_allowed(cls, name, self._timed(f"{cls.__module__}:{cls.__qualname__}.{name}"))

    def look(self, thorough: bool) -> None:
        """Look at the script's names; `thorough`: at those of all of the user's modules that are there by now."""
        if thorough and len(sys.modules) != len(self._seen):
            self._find_modules()
        main = sys.modules.get("__main__")
        if main is not None:
            self._look_into(main)
        if thorough:
            for module in self._own.values():
                self._look_into(module)

    def _look_into(self, module: ModuleType) -> None:
        names: MutableMapping[str, Any] = vars(module)
        for name in self._functions:
            value = names.get(name)
            if value is None or not is_plain(value):
                continue
            if not self._is_exception(value.__module__, value.__qualname__):
                self._patches.function(module, name, self._timed(f"{value.__module__}:{value.__qualname__}"))

    def _find_modules(self) -> None:
        # A copy: the program may import in another thread, and a list of pairs allocates, which lets it.
        for name, module in sys.modules.copy().items():
            if name in self._seen:
                continue
            self._seen.add(name)
            file = getattr(module, "__dict__", {}).get("__file__")  # some put other things than modules there
            if isinstance(file, str) and is_own_file(file):
                self._own[name] = module

    def _is_exception(self, module: str, name: str) -> bool:
        return any(name == target.name and is_called(module, target.module) for target in self._exceptions)
