"""Wrappers that put a span around a function somebody else wrote."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rlprof import _core
from rlprof.model.kinds import PROBE

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_span = _core.span_of_kind

Function = Callable[..., Any]
Wrap = Callable[[Function], Function]


def timed(name: str, phase: str | None) -> Wrap:
    """A span around every call."""

    def wrap(original: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            with _span(name, phase, PROBE):
                return original(*args, **kwargs)

        return call

    return wrap


def outermost(name: str, phase: str | None, group: int) -> Wrap:
    """A span around every call that is not inside another one of its group."""

    def wrap(original: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            if _is_busy(group):
                return original(*args, **kwargs)
            with _guarded_span(name, phase, PROBE, group):
                return original(*args, **kwargs)

        return call

    return wrap


def named_by_class(phase: str | None, group: int) -> Wrap:
    """A span around every call of a method, named after the object's class: only the outermost one has the phase."""

    def wrap(original: Function) -> Function:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            name = type(self).__name__
            if _is_busy(group):
                with _span(name, None, PROBE):
                    return original(self, *args, **kwargs)
            with _guarded_span(name, phase, PROBE, group):
                return original(self, *args, **kwargs)

        return call

    return wrap


def stretches(name: str, phase: str | None) -> Wrap:
    """A span around every step of a generator: what its consumer does in between is not the generator's time."""

    def wrap(original: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            inner = original(*args, **kwargs)
            try:
                while True:
                    with _span(name, phase, PROBE):
                        try:
                            item = next(inner)
                        except StopIteration as stop:
                            return stop.value
                    yield item
            finally:
                inner.close()

        return call

    return wrap
