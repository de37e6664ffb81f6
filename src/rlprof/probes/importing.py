"""Acting on a library at the moment the program imports it, and never importing one ourselves.

A finder at the front of the import system lets the others find a watched module, then has its loader call us once the
module is there. Patching at import is early enough for `from library import name` to get what was patched.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

Loaded = Callable[[ModuleType], None]


class ImportWatch(importlib.abc.MetaPathFinder):
    """Calls back when a watched module has been loaded; at once for one that is there already."""

    def __init__(self) -> None:
        self._watched: dict[str, list[Loaded]] = {}
        self._busy: set[str] = set()

    def watch(self, name: str, loaded: Loaded) -> None:
        module = sys.modules.get(name)
        # A module that is being imported right now has a spec that says so; its loader will tell us.
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            loaded(module)
            return
        self._watched.setdefault(name, []).append(loaded)

    def start(self) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._watched.clear()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._watched or fullname in self._busy:
            return None
        self._busy.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy.discard(fullname)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        spec.loader = _TellingLoader(spec.loader, self._tell)
        return spec

    def _tell(self, module: ModuleType) -> None:
        for loaded in self._watched.pop(module.__name__, ()):
            loaded(module)


class _TellingLoader(importlib.abc.Loader):
    """Another loader, whose module is announced once it is loaded. Everything else goes to the other one."""

    def __init__(self, loader: Any, tell: Loaded) -> None:
        self._loader = loader
        self._tell = tell

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        # The program must find the loader it would have found without us, during the import and afterwards.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._tell(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
