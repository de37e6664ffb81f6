"""torch.compile: the time in which something is compiled, so that a first slow step has a name.

A compile has no phase of its own: it counts towards the forward, or whatever else, that had to wait for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.patching import Patches
from rlprof.record.sites import short_path

LIBRARY: Final = "torch.compile"
MOST_NAMES: Final = 200

_WRAPPERS: Final = ("external_utils.py",)
_names: set[str] = set()

#: What is compiled, or recorded, later than the function itself.
_LATER: Final = {"LAZY_BACKWARD": "torch.compile: backward", "CUDAGRAPH_RECORDING": "torch.compile: CUDA graph"}


def _name(code: Any, closure: Any) -> str:
    if not isinstance(code, CodeType):
        return "torch.compile"
    what = _wrapped(closure) if code.co_filename.endswith(_WRAPPERS) else None
    place = f"{code.co_name} {short_path(code.co_filename)}:{code.co_firstlineno}"
    name = f"torch.compile: {what or place}"
    if name not in _names:
        if len(_names) >= MOST_NAMES:
            return "torch.compile: (more functions)"
        _names.add(name)
    return name


def _wrapped(closure: Any) -> str | None:
    """A module whose forward is torch's own is compiled inside a function of the compiler: the module says more."""
    for cell in closure or ():
        owner = getattr(cell.cell_contents, "__self__", cell.cell_contents)
        return str(getattr(owner, "__qualname__", type(owner).__name__))
    return None


def _timed_compile(original: Callable[..., Any]) -> Callable[..., Any]:
    def compile_frame(code: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            name = _name(code, args[3] if len(args) > 3 else kwargs.get("closure"))
        except Exception:  # whatever it is, it is compiled
            name = "torch.compile"
        with _core.span_of_kind(name, None, PROBE):
            return original(code, *args, **kwargs)

    return compile_frame


def _timed_later(original: Callable[..., Any]) -> Callable[..., Any]:
    @contextlib.contextmanager
    def callbacks(self: Any, trigger: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        name = _LATER.get(getattr(trigger, "name", ""))
        span = contextlib.nullcontext() if name is None else _core.span_of_kind(name, None, PROBE)
        with span, original(self, trigger, *args, **kwargs) as given:
            yield given

    return callbacks


def install_frames(module: ModuleType, patches: Patches) -> None:
    """`torch._dynamo.convert_frame` is loaded: each function that is compiled comes by here."""
    if not patches.function(module, "_compile", _timed_compile):
        raise AttributeError("_compile")


def install_callbacks(module: ModuleType, patches: Patches) -> None:
    """`torch._dynamo.callback` is loaded. Callbacks that one registers are gone after `torch._dynamo.reset()`."""
    handler = getattr(module, "CompilationCallbackHandler", None)
    if handler is not None:
        patches.method(handler, "install_callbacks", _timed_later)


WATCHED: Final = {"torch._dynamo.convert_frame": install_frames, "torch._dynamo.callback": install_callbacks}
