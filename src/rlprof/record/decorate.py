"""`profile_function`: a span around every call of a function, method, generator or coroutine."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar, cast, overload

from rlprof import _core
from rlprof.model import kinds

F = TypeVar("F", bound=Callable[..., Any])


@overload
def profile_function(name: F, /) -> F: ...


@overload
def profile_function(
    name: str | None = None, *, phase: str | None = None, track_memory: bool = False
) -> Callable[[F], F]: ...


def profile_function(name: Any = None, *, phase: str | None = None, track_memory: bool = False) -> Any:
    """Time every call: `@profile_function("gae", phase="advantage")`. Without a name, the function's own is used.

    Of a generator or coroutine only the time in which it runs is counted, each stretch between two suspensions as
    one call: while it waits, others work, and their time is theirs.
    """
    if callable(name) or isinstance(name, (classmethod, staticmethod)):  # used without parentheses
        return profile_function()(name)

    def decorate(function: F) -> F:
        if isinstance(function, (classmethod, staticmethod)):  # above @classmethod or @staticmethod, instead of below
            return cast(F, type(function)(decorate(function.__func__)))
        called = name or getattr(function, "__qualname__", type(function).__name__).replace("<locals>.", "")
        import inspect  # takes as long to load as the rest of rlprof

        if inspect.isasyncgenfunction(function):
            return cast(F, _async_generator(function, called, phase))
        if inspect.iscoroutinefunction(function):
            return cast(F, _coroutine(function, called, phase))
        if inspect.isgeneratorfunction(function):
            return cast(F, _generator(function, called, phase))
        if track_memory:
            return cast(F, _tracked(function, called, phase))
        return cast(F, _function(function, called, phase))

    return decorate


def _function(function: Callable[..., Any], name: str, phase: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with _core.span_of_kind(name, phase, kinds.FUNCTION):
            return function(*args, **kwargs)

    return timed


def _tracked(function: Callable[..., Any], name: str, phase: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with _core.profile(name, phase=phase, track_memory=True):
            return function(*args, **kwargs)

    return timed


def _generator(function: Callable[..., Any], name: str, phase: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        if not _core.is_on():
            return (yield from function(*args, **kwargs))
        return (yield from _stretches(function(*args, **kwargs), name, phase, kinds.GENERATOR))

    return timed


def _coroutine(function: Callable[..., Any], name: str, phase: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    async def timed(*args: Any, **kwargs: Any) -> Any:
        if not _core.is_on():
            return await function(*args, **kwargs)
        return await _Awaited(function(*args, **kwargs), name, phase)

    return timed


def _async_generator(function: Callable[..., Any], name: str, phase: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    async def timed(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **kwargs)
        step = inner.__anext__()
        try:
            while True:
                try:
                    item = await _Awaited(step, name, phase)
                except StopAsyncIteration:
                    return
                try:
                    sent = yield item
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
                else:
                    step = inner.asend(sent)
        finally:
            await inner.aclose()

    return timed


class _Awaited:
    """Awaits another awaitable and times each stretch in which it runs."""

    def __init__(self, awaitable: Any, name: str, phase: str | None) -> None:
        self._awaitable = awaitable
        self._name = name
        self._phase = phase

    def __await__(self) -> Generator[Any, Any, Any]:
        # A coroutine has send, throw and close of its own: going through its __await__ would add an object.
        inner = self._awaitable if hasattr(self._awaitable, "send") else self._awaitable.__await__()
        return _stretches(inner, self._name, self._phase, kinds.COROUTINE)


def _stretches(inner: Any, name: str, phase: str | None, kind: int) -> Generator[Any, Any, Any]:
    """Drive a generator or coroutine as `yield from` would, with a span around every stretch it runs."""
    resume: Callable[[Any], Any] = inner.send
    argument: Any = None
    while True:
        try:
            with _core.span_of_kind(name, phase, kind):
                item = resume(argument)
        except StopIteration as stop:
            return stop.value
        try:
            argument = yield item
            resume = inner.send
        except GeneratorExit:
            with _core.span_of_kind(name, phase, kind):
                inner.close()
            raise
        except BaseException as error:
            resume, argument = inner.throw, error
