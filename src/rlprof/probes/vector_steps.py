"""Vector environments with worker processes: a span for sending, one for waiting, and the moments of some steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.spaces import describe
from rlprof.record.stretches import stretches

_span = _core.span_of_kind
_clock = _core.clock_ns

Function = Callable[..., Any]

#: Where libraries keep their worker processes.
_PLACES: Final = ("processes", "_workers")
#: Wrappers around a vector environment pass sending and waiting on one by one, a frame each.
_MOST_WRAPPERS: Final = 16


def sending(original: Function) -> Function:
    """Around a method that sends actions, and may wait for the answers, too."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        env = stretches.known(self) or stretches.get_to_know(self, _pids_of(self), describe(self))
        if env is None:
            with _span("env.ipc", "env.ipc", PROBE):
                return original(self, *args, **kwargs)
        begin = stretches.sending(env)
        noted = env.noting
        with _span("env.ipc", "env.ipc", PROBE):
            result = original(self, *args, **kwargs)
        stretches.sent(env, begin, noted)
        return result

    return call


def waiting(original: Function) -> Function:
    """Around a method that waits for all workers' answers."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        env = stretches.known(self)
        begin = _clock()
        with _span("env.wait", "env.wait", PROBE):
            result = original(self, *args, **kwargs)
        if env is not None:
            stretches.waited(env, begin, _is_inside(env.step_code, sys._getframe(1)))
        return result

    return call


def answering(place: int) -> Callable[[Function], Function]:
    """Around the function that a worker process runs; `place` is where its pipe is among the arguments."""

    def wrap(original: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > place:
                args = (*args[:place], WatchedPipe(args[place]), *args[place + 1 :])
            return original(*args, **kwargs)

        return call

    return wrap


class WatchedPipe:
    """A worker's end of its pipe: between the order to step and the answer, its environment is busy."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._begin = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)

    def recv(self) -> Any:
        message = self._pipe.recv()
        if isinstance(message, tuple) and message and isinstance(message[0], str) and message[0] == "step":
            self._begin = stretches.simulating()
        return message

    def send(self, answer: Any) -> None:
        if self._begin:
            stretches.simulated(self._begin)
            self._begin = 0
        self._pipe.send(answer)


def _is_inside(code: CodeType | None, frame: FrameType | None) -> bool:
    """Whether `code` is what called, be it through wrappers."""
    for _ in range(_MOST_WRAPPERS):
        if frame is None or code is None:
            return False
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _pids_of(env: Any) -> tuple[int, ...]:
    """Looked up in the object's own dictionary: asking an environment for an attribute may ask its workers."""
    held = getattr(env, "__dict__", {})
    for name in _PLACES:
        workers = held.get(name)
        if isinstance(workers, (list, tuple)) and workers:
            pids = [getattr(worker, "pid", None) for worker in workers]
            return tuple(pid for pid in pids if isinstance(pid, int))
    return ()
