"""torch: a forward pass split by submodule, down to a depth that was asked for."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.patching import Patches

LIBRARY: Final = "torch's submodules"

_span = _core.span_of_kind

#: A name by the address of its module, which is that module's only as long as it is there.
Names = dict[int, tuple["weakref.ref[Any]", str]]


class SubmoduleProbe:
    """Spans named by attribute path (`actor.0`) below the outermost module, which is named by its class."""

    LIBRARY: Final = LIBRARY

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._names: dict[int, tuple[weakref.ref[Any], Names]] = {}
        self._here = threading.local()
        self.WATCHED = {"torch": self.install}

    def install(self, module: ModuleType, patches: Patches) -> None:
        """`torch` is loaded. Every call of a module comes by `_call_impl`."""
        torch: Any = module
        if not patches.method(torch.nn.Module, "_call_impl", self._split(torch.compiler.is_compiling)):
            raise AttributeError("Module._call_impl")

    def _split(self, is_compiling: Callable[[], bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                if is_compiling():
                    return original(self, *args, **kwargs)
                return split(original, self, args, kwargs)

            return call

        split = self._call
        return wrap

    def _call(self, original: Callable[..., Any], module: Any, args: Any, kwargs: Any) -> Any:
        here = self._here
        names = getattr(here, "names", None)
        if names is not None:
            found = names.get(id(module))
            if found is None or found[0]() is not module:
                return original(module, *args, **kwargs)
            with _span(found[1], None, PROBE):
                return original(module, *args, **kwargs)
        here.names = self._names_below(module)
        try:
            with _span(type(module).__name__, None, PROBE):
                return original(module, *args, **kwargs)
        finally:
            here.names = None

    def _names_below(self, root: Any) -> Names:
        """The names of the submodules in reach, as they are at the first call; one that comes later has none."""
        known = self._names.get(id(root))
        if known is not None and known[0]() is root:
            return known[1]
        named = [(name, part) for name, part in root.named_modules() if name and name.count(".") < self._depth]
        names = {id(part): (weakref.ref(part), name) for name, part in named}
        at, forget = id(root), self._names
        self._names[at] = (weakref.ref(root, lambda _: forget.pop(at, None)), names)
        return names
