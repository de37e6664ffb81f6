"""Wrappers that put a span around a function somebody else wrote."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rlprof import _core
from rlprof.model.kinds import PROBE

_span = _core.span_of_kind

Function = Callable[..., Any]
Wrap = Callable[[Function], Function]
Before = Callable[[], Any]
After = Callable[[Any, Any], Any]


def timed(name: str, phase: str | None) -> Wrap:
    """A span around every call."""

    def wrap(original: Function) -> Function:
        return _core.Timed(original, name, phase, PROBE)

    return wrap


def outermost(name: str, phase: str | None, group: int, *, after: After | None = None, whole: bool = False) -> Wrap:
    """A span around every call that is not inside another one of its group; then `after(first argument, result)`.

    `whole` is as in `named_by_class`.
    """

    def wrap(original: Function) -> Function:
        return _core.Timed(original, name, phase, PROBE, group, after=after, whole=whole)

    return wrap


def outermost_step(name: str, group: int, *, before: Before, after: After) -> Wrap:
    """The same for the step of an environment. `before()` is called where somebody waits: see `_core.settle_steps`."""

    def wrap(original: Function) -> Function:
        return _core.Timed(original, name, "env.step", PROBE, group, before=before, after=after, steps=True)

    return wrap


def named_by_class(phase: str | None, group: int, *, whole: bool = False) -> Wrap:
    """A span around every call of a method, named after the object's class: only the outermost one has the phase.

    `whole` where one call in a thousand does something else than the others: such calls are never thinned out.
    """

    def wrap(original: Function) -> Function:
        return _core.Timed(original, None, phase, PROBE, group, whole=whole)

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


def chained(outer: Wrap, inner: Wrap) -> Wrap:
    """One wrapper around another one's result."""

    def wrap(original: Function) -> Function:
        return outer(inner(original))

    return wrap
