"""Classes of the program that are added to and sampled from: replay buffers, once they have been sampled."""

from __future__ import annotations

from typing import Any, Final

from rlprof import _core
from rlprof.probes import compiling
from rlprof.probes.drawing import drawing
from rlprof.probes.groups import BUFFER
from rlprof.probes.guesses import Anew, Guess
from rlprof.record.wrap import Function, Wrap, outermost, stretches

ADDING: Final = ("add", "push", "store", "append", "put", "extend", "insert", "remember", "store_transition")
_GENERATOR: Final = 0x20  # inspect.CO_GENERATOR

_is_busy = _core.is_busy


def timed_add(guess: Guess) -> Wrap:
    def wrap(original: Function) -> Function:
        timed = Anew(_timed_add, guess, original)

        def add(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling():
                return original(self, *args, **kwargs)
            if not guess.confirmed or guess.over:
                guess.first = True
                return original(self, *args, **kwargs)
            return timed.call(self, *args, **kwargs)

        return add

    return wrap


def timed_sample(guess: Guess) -> Wrap:
    def wrap(original: Any) -> Function:
        if original.__code__.co_flags & _GENERATOR:
            return _timed_batches(guess, original)
        timed = Anew(_timed_sample, guess, original)

        def sample(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over:
                return original(self, *args, **kwargs)
            if guess.confirmed:
                return timed.call(self, *args, **kwargs)
            if _is_busy(BUFFER):
                return original(self, *args, **kwargs)
            return try_sample(guess, original, self, args, kwargs)

        return sample

    return wrap


def _timed_add(guess: Guess, original: Function) -> Function:
    return outermost("buffer.add", "buffer.add", BUFFER)(original)


def _timed_sample(guess: Guess, original: Function) -> Function:
    """All of them: what a draw takes may grow with the buffer, which the mean of some would hide."""
    return drawing(whole=True)(original)


def _timed_batches(guess: Guess, original: Function) -> Function:
    """Of a generator each batch is timed."""
    batches = stretches("buffer.sample", "buffer.sample")(original)

    def sample(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not guess.over and not guess.confirmed:
            judge(guess, original, self, args, "batches")
        return (original if guess.over or not guess.confirmed else batches)(self, *args, **kwargs)

    return sample


def try_sample(guess: Guess, original: Function, buffer: Any, args: Any, kwargs: Any) -> Any:
    result = original(buffer, *args, **kwargs)
    judge(guess, original, buffer, args, result)
    return result


def judge(guess: Guess, original: Function, buffer: Any, args: Any, result: Any) -> None:
    """A buffer was added to before, gives something, and is not shown an observation: that would be a policy."""
    shown = any(len(getattr(value, "shape", None) or ()) > 0 for value in args)
    if guess.first is not None and result is not None and not shown:
        guess.confirm(buffer, original)
    else:
        guess.misfit()
