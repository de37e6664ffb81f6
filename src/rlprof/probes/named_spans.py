"""Spans around functions that a person named: `--span module:Class.method=phase`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from rlprof.probes.importing import ImportWatch
from rlprof.probes.own_code import is_called
from rlprof.probes.patching import Patches
from rlprof.record.decorate import profile_function
from rlprof.record.noted import note
from rlprof.record.targets import Target

_NAMED = "__rlprof_named__"


def is_named(value: Any) -> bool:
    """Whether a function is timed because somebody said so: then nothing is guessed about it."""
    return isinstance(getattr(value, "__dict__", None), dict) and _NAMED in value.__dict__


class NamedSpans:
    """The functions to time, found wherever and whenever they appear."""

    def __init__(self, targets: Iterable[Target], patches: Patches) -> None:
        self._patches = patches
        self._missing = list(dict.fromkeys(targets))
        self._found: list[str] = []
        self._no_function: list[str] = []
        self._note()

    def start(self, watch: ImportWatch) -> None:
        for module in {target.module for target in self._missing}:
            if module != "__main__":
                watch.watch(module, self.loaded)

    def loaded(self, module: ModuleType) -> None:
        """A module is there: what it defines is."""
        for target in tuple(self._missing):
            if is_called(module.__name__, target.module):
                self._in_module(target, module)

    def made(self, cls: type) -> None:
        """A class was made, and has no name in its module yet."""
        for target in tuple(self._missing):
            name, _, method = target.name.rpartition(".")
            if name == cls.__qualname__ and is_called(cls.__module__, target.module):
                self._wrap(target, cls, method)

    def look(self) -> bool:
        """Look at the script's own names. Whether there is anything left to look for."""
        main = sys.modules.get("__main__")
        if main is not None and self._missing:
            self.loaded(main)
        return bool(self._missing)

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
        if raw is None:
            return
        if is_named(raw) and name in vars(owner):  # seen when its class was made; what is inherited may be named, too
            self._settle(target, self._found)
            return
        inner = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
        if not isinstance(inner, (FunctionType, BuiltinFunctionType)):
            self._settle(target, self._no_function)
            return
        ours = profile_function(target.name, phase=target.phase)(raw)
        setattr(ours, _NAMED, True)
        try:
            self._patches.attribute(owner, name, ours)
        except (TypeError, AttributeError):  # a metaclass may refuse
            self._settle(target, self._no_function)
        else:
            self._settle(target, self._found)

    def _settle(self, target: Target, where: list[str]) -> None:
        self._missing.remove(target)
        where.append(target.text)
        self._note()

    def _note(self) -> None:
        missing = [target.text for target in self._missing]
        note("spans", {"found": self._found[:], "missing": missing, "no_function": self._no_function[:]})


def _attribute(owner: Any, name: str) -> Any:
    """What a module or a class has under a name, as it is stored; a class may have inherited it."""
    for place in owner.__mro__ if isinstance(owner, type) else (owner,):
        if name in vars(place):
            return vars(place)[name]
    return None
