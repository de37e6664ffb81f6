"""Classes of the program that are added to and sampled from: replay buffers, once they have been sampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.groups import BUFFER
from rlprof.probes.guesses import Guess
from rlprof.record.wrap import stretches

ADDING: Final = ("add", "push", "store", "append", "put", "extend", "insert", "remember", "store_transition")
_GENERATOR: Final = 0x20  # inspect.CO_GENERATOR

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy


def timed_add(guess: Guess) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def add(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling():
                return original(self, *args, **kwargs)
            if not guess.confirmed or guess.over or _is_busy(BUFFER):
                guess.first = True
                return original(self, *args, **kwargs)
            with _guarded_span("buffer.add", "buffer.add", PROBE, BUFFER):
                return original(self, *args, **kwargs)

        return add

    return wrap


def timed_sample(guess: Guess) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Any) -> Callable[..., Any]:
        if original.__code__.co_flags & _GENERATOR:
            return _timed_batches(guess, original)

        def sample(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over or _is_busy(BUFFER):
                return original(self, *args, **kwargs)
            if not guess.confirmed:
                return try_sample(guess, original, self, args, kwargs)
            with _guarded_span("buffer.sample", "buffer.sample", PROBE, BUFFER):
                return original(self, *args, **kwargs)

        return sample

    return wrap


def _timed_batches(guess: Guess, original: Callable[..., Any]) -> Callable[..., Any]:
    """Of a generator each batch is timed."""
    batches = stretches("buffer.sample", "buffer.sample")(original)

    def sample(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not guess.over and not guess.confirmed:
            judge(guess, original, self, args, "batches")
        return (original if guess.over or not guess.confirmed else batches)(self, *args, **kwargs)

    return sample


def try_sample(guess: Guess, original: Callable[..., Any], buffer: Any, args: Any, kwargs: Any) -> Any:
    result = original(buffer, *args, **kwargs)
    judge(guess, original, buffer, args, result)
    return result


def judge(guess: Guess, original: Callable[..., Any], buffer: Any, args: Any, result: Any) -> None:
    """A buffer was added to before, gives something, and is not shown an observation: that would be a policy."""
    shown = any(len(getattr(value, "shape", None) or ()) > 0 for value in args)
    if guess.first is not None and result is not None and not shown:
        guess.confirm(buffer, original)
    else:
        guess.misfit()
