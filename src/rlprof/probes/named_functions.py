"""Functions that a person named, found wherever and whenever they appear, and replaced by something made from each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from rlprof.probes.own_code import is_called
from rlprof.probes.patching import Patches
from rlprof.record.targets import Target

_NAMED = "__rlprof_named__"


def is_named(value: Any) -> bool:
    """Whether a function was replaced because somebody said so: then nothing is guessed about it."""
    return isinstance(getattr(value, "__dict__", None), dict) and _NAMED in value.__dict__


class NamedFunctions:
    """What was named. `changed` is called whenever one of them is found, or turns out to be no function."""

    def __init__(
        self,
        targets: Iterable[Target],
        make: Callable[[Target, Any], Any],
        patches: Patches,
        changed: Callable[[NamedFunctions], None],
    ) -> None:
        self.missing = list(dict.fromkeys(targets))
        self.found: list[str] = []
        self.no_function: list[str] = []
        self._make = make
        self._patches = patches
        self._changed = changed

    def loaded(self, module: ModuleType) -> None:
        """A module is there: what it defines is."""
        for target in tuple(self.missing):
            if is_called(module.__name__, target.module):
                self._in_module(target, module)

    def made(self, cls: type) -> None:
        """A class was made, and has no name in its module yet."""
        for target in tuple(self.missing):
            name, _, method = target.name.rpartition(".")
            if name == cls.__qualname__ and is_called(cls.__module__, target.module):
                self._wrap(target, cls, method)

    def look(self) -> bool:
        """Look at the script's own names. Whether there is anything left to look for."""
        main = sys.modules.get("__main__")
        if main is not None and self.missing:
            self.loaded(main)
        return bool(self.missing)

    def _in_module(self, target: Target, module: ModuleType) -> None:
        *outer, name = target.name.split(".")
        owner: Any = module
        for part in outer:
            owner = vars(owner).get(part)
            if not isinstance(owner, type):
                return
        self._wrap(target, owner, name)

    def _wrap(self, target: Target, owner: Any, name: str) -> None:
        raw = _attribute(owner, name)
        if raw is None or target not in self.missing:  # another look, within this one or beside it, was quicker
            return
        if is_named(raw) and name in vars(owner):  # seen when its class was made; what is inherited may be named, too
            self._settle(target, self.found)
            return
        inner = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
        if not isinstance(inner, (FunctionType, BuiltinFunctionType)):
            self._settle(target, self.no_function)
            return
        ours = self._make(target, raw)
        setattr(ours, _NAMED, True)
        try:
            self._patches.attribute(owner, name, ours)
        except (TypeError, AttributeError):  # a metaclass may refuse
            self._settle(target, self.no_function)
        else:
            self._settle(target, self.found)

    def _settle(self, target: Target, where: list[str]) -> None:
        if target not in self.missing:
            return
        self.missing.remove(target)
        where.append(target.text)
        self._changed(self)


def _attribute(owner: Any, name: str) -> Any:
    """What a module or a class has under a name, as it is stored; a class may have inherited it."""
    for place in owner.__mro__ if isinstance(owner, type) else (owner,):
        if name in vars(place):
            return vars(place)[name]
    return None
