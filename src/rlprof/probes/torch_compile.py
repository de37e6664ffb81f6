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

_names: dict[CodeType, str] = {}

#: What is compiled, or recorded, later than the function itself.
_LATER: Final = {"LAZY_BACKWARD": "torch.compile: backward", "CUDAGRAPH_RECORDING": "torch.compile: CUDA graph"}


def _name(code: Any) -> str:
    if not isinstance(code, CodeType):
        return "torch.compile"
    if len(_names) >= MOST_NAMES and code not in _names:
        return "torch.compile: (more functions)"
    name = f"torch.compile: {code.co_name} {short_path(code.co_filename)}:{code.co_firstlineno}"
    return _names.setdefault(code, name)


def _timed_compile(original: Callable[..., Any]) -> Callable[..., Any]:
    def compile_frame(code: Any, *args: Any, **kwargs: Any) -> Any:
        with _core.span_of_kind(_name(code), None, PROBE):
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
