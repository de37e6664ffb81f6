"""Ranges that a program has marked for another profiler: record_function, nvtx, TorchRL's timeit. They become spans.

They keep the names they were given and have no phase of their own.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.record.wrap import timed

LIBRARY: Final = "record_function, nvtx and timeit"

Function = Callable[..., Any]

_getframe = sys._getframe
_span = _core.span_of_kind


class _Entered:
    """Spans of context managers that are entered now. One may be entered again before it is left."""

    def __init__(self) -> None:
        self.spans: dict[int, list[Any]] = {}

    def enter(self, manager: Any, name: str) -> None:
        loop.give_up_stages()
        span = _span(name, None, PROBE)
        self.spans.setdefault(id(manager), []).append(span)
        span.__enter__()

    def leave(self, manager: Any) -> None:
        spans = self.spans.get(id(manager))
        if spans:
            spans.pop().__exit__(None, None, None)
            if not spans:
                self.spans.pop(id(manager), None)


class _Pushed(threading.local):
    """Ranges that are pushed now, in this thread, by domain."""

    def __init__(self) -> None:
        self.spans: dict[Any, list[Any]] = {}

    def push(self, domain: Any, name: str) -> None:
        loop.give_up_stages()
        span = _span(name, None, PROBE)
        self.spans.setdefault(domain, []).append(span)
        span.__enter__()

    def pop(self, domain: Any) -> None:
        spans = self.spans.get(domain)
        if spans:
            spans.pop().__exit__(None, None, None)


def follow_manager(owner: type, name_of: Callable[[Any], str], patches: Patches, passed_over: str = "\0") -> None:
    """A span from `__enter__` to `__exit__`, without their own work; none where a file below `passed_over` enters."""
    entered = _Entered()

    def wrap_enter(original: Function) -> Function:
        def enter(self: Any) -> Any:
            result = original(self)
            if not _getframe(1).f_code.co_filename.startswith(passed_over):
                entered.enter(self, name_of(self))
            return result

        return enter

    def wrap_exit(original: Function) -> Function:
        def leave(self: Any, *args: Any, **kwargs: Any) -> Any:
            if entered.spans:  # torch's optimizers mark every step, and most programs nothing
                entered.leave(self)
            return original(self, *args, **kwargs)

        return leave

    if not (patches.method(owner, "__enter__", wrap_enter) and patches.method(owner, "__exit__", wrap_exit)):
        raise AttributeError(f"{owner.__name__}.__enter__ and __exit__")


def follow_stack(module: Any, push: str, pop: str, patches: Patches) -> None:
    """A span from a push to its pop. Both functions may take a domain, which has a stack of its own."""
    pushed = _Pushed()

    def wrap_push(original: Function) -> Function:
        def push_range(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            message = args[0] if args else kwargs.get("message", kwargs.get("msg"))
            domain = kwargs.get("domain", args[2] if len(args) > 2 else None)
            pushed.push(domain, str(message or push))
            return result

        return push_range

    def wrap_pop(original: Function) -> Function:
        def pop_range(*args: Any, **kwargs: Any) -> Any:
            pushed.pop(kwargs.get("domain", args[0] if args else None))
            return original(*args, **kwargs)

        return pop_range

    patches.function(module, push, wrap_push)
    patches.function(module, pop, wrap_pop)


def install_record_function(module: ModuleType, patches: Patches) -> None:
    """`torch.autograd.profiler` is loaded. What torch marks in its own code, as its optimizers do, is passed over."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(str(module.__file__)))) + os.sep
    follow_manager(module.record_function, lambda it: str(it.name), patches, folder)


def install_torch_nvtx(module: ModuleType, patches: Patches) -> None:
    """`torch.cuda.nvtx` is loaded; its `range` pushes and pops, too."""
    follow_stack(module, "range_push", "range_pop", patches)


def install_nvtx(module: ModuleType, patches: Patches) -> None:
    """`nvtx.nvtx` is loaded. A decorated function goes past `__enter__`."""
    follow_manager(module.annotate, _nvtx_name, patches)
    patches.method(module.annotate, "__call__", _timed_decorator)
    follow_stack(module, "push_range", "pop_range", patches)


def _nvtx_name(annotation: Any) -> str:
    return str(annotation.init_args[0] or "nvtx.annotate")


def _timed_decorator(original: Function) -> Function:
    def decorate(self: Any, function: Function) -> Any:
        loop.give_up_stages()
        decorated = original(self, function)
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            return decorated  # what is called returns at once; its work comes later
        name = str(self.init_args[0] or function.__name__)
        return functools.update_wrapper(timed(name, None)(decorated), decorated)

    return decorate


def install_timeit(module: ModuleType, patches: Patches) -> None:
    """`torchrl._utils` is loaded."""
    follow_manager(module.timeit, lambda it: str(it.name), patches)


WATCHED: Final = {
    "torch.autograd.profiler": install_record_function,
    "torch.cuda.nvtx": install_torch_nvtx,
    "nvtx.nvtx": install_nvtx,
    "torchrl._utils": install_timeit,
}
