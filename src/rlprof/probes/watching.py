"""Arming the windows that a run asked for, and making way for a program that profiles itself."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlprof.probes.importing import ImportWatch
from rlprof.probes.patching import Patches
from rlprof.record.cprofile_window import CProfileWindow
from rlprof.record.session import Session
from rlprof.record.torch_window import TorchWindow
from rlprof.record.turns import listen, mark_turn
from rlprof.record.windows import Tool, Windows

Function = Callable[..., Any]


def arm_windows(session: Session) -> None:
    """In the main process of a run. Child processes are only looked on by rlprof itself."""
    options, target = session.options, session.target
    if target is None or (options.torch_trace is None and options.detailed is None):
        return
    trace = TorchWindow(target, options.torch_trace) if options.torch_trace is not None else None
    by_function = CProfileWindow(target, options.detailed) if options.detailed is not None else None
    tools: list[Tool] = [tool for tool in (trace, by_function) if tool is not None]
    windows = Windows(session, target.parent, tools)
    listen(windows)
    _follow_marks()
    _make_way(windows, trace, by_function)
    parent = os.getpid()
    # Runs before the session's own, which was registered earlier; a forked child may run it, too.
    atexit.register(lambda: windows.end() if os.getpid() == parent else None)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _leave_to_parent(windows))


def _leave_to_parent(windows: Windows) -> None:
    listen(None)
    windows.leave_to_parent()


def _follow_marks() -> None:
    """A program that marks its turns imports the function after this."""
    package: Any = sys.modules["rlprof"]
    package.iteration = mark_turn


def _make_way(windows: Windows, trace: TorchWindow | None, by_function: CProfileWindow | None) -> None:
    watch, patches = ImportWatch(), Patches()
    watch.start()
    if trace is not None:
        tool = trace

        def torch_profilers(module: ModuleType) -> None:
            said = "the program uses torch.profiler itself: no torch trace of rlprof"
            patches.method(module.profile, "__init__", _yielding(windows, tool, said))

        watch.watch("torch.autograd.profiler", torch_profilers)
        watch.watch("torch.profiler.profiler", torch_profilers)
    if by_function is not None:
        other = by_function

        def cprofile(module: ModuleType) -> None:
            said = "the program uses cProfile itself: no detailed profile of rlprof"
            patches.inherited(module.Profile, "enable", _yielding(windows, other, said))

        watch.watch("cProfile", cprofile)


def _yielding(windows: Windows, tool: Any, said: str) -> Callable[[Function], Function]:
    """Before the program makes a profiler of its own, ours lets go."""

    def wrap(original: Function) -> Function:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not tool.busy:
                windows.yield_to_program(tool, said)
            return original(self, *args, **kwargs)

        return call

    return wrap
