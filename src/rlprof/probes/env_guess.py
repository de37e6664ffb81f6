"""Classes of the program with `step` and `reset`: environments, if they are used like one.

A `step` that is given an action and returns what environments return has its time and its env steps counted from the
third call on; the env steps of the first two are made up for. Wrappers hold nothing but what another process can have,
too, because classes of a script may be sent there whole.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

from rlprof import _core
from rlprof.probes import compiling
from rlprof.probes.batches import ended_of, env_steps_of, is_column, is_flag, shares_batch
from rlprof.probes.groups import ENV, EVALUATE, RENDER, RESET
from rlprof.probes.guesses import Anew, Guess
from rlprof.probes.loop import loop
from rlprof.record.wrap import Function, Wrap, outermost, outermost_step

FITS: Final = 2  # calls that fit before a guess is believed

_is_busy = _core.is_busy


def timed_step(guess: Guess) -> Wrap:
    def wrap(original: Function) -> Function:
        counted = Anew(_counted_step, guess, original)

        def step(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over:
                return original(self, *args, **kwargs)
            if guess.confirmed:
                return counted.call(self, *args, **kwargs)
            if _is_busy(ENV):
                return original(self, *args, **kwargs)
            return try_step(guess, original, self, args, kwargs)

        return step

    return wrap


def timed_reset(guess: Guess) -> Wrap:
    def wrap(original: Function) -> Function:
        timed = Anew(_timed_reset, guess, original)

        def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over:
                return original(self, *args, **kwargs)
            if guess.confirmed:
                return timed.call(self, *args, **kwargs)
            result = original(self, *args, **kwargs)
            if not _is_busy(RESET):
                note_reset(guess, result)
            return result

        return reset

    return wrap


def timed_render(guess: Guess) -> Wrap:
    def wrap(original: Function) -> Function:
        timed = Anew(_timed_render, guess, original)

        def render(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or not guess.confirmed or guess.over:
                return original(self, *args, **kwargs)
            return timed.call(self, *args, **kwargs)

        return render

    return wrap


def _counted_step(guess: Guess, original: Function) -> Function:
    after = _core.OwnSteps(EVALUATE, lambda env, result: note_step(guess, env, result))
    return outermost_step("env.step", ENV, before=loop.look, after=after)(original)


def _timed_reset(guess: Guess, original: Function) -> Function:
    return outermost("env.reset", "env.reset", RESET, after=_core.forget_return)(original)


def _timed_render(guess: Guess, original: Function) -> Function:
    return outermost("env.render", "env.render", RENDER)(original)


def note_step(guess: Guess, env: Any, result: Any) -> None:
    """Count what a step did. Whatever it returned, it was a step."""
    steps, ended = _steps(guess, result), 0
    try:
        ended = ended_of(result)
    except Exception:  # as in _steps
        pass
    if steps == 1:
        reward = result[1] if isinstance(result, tuple) and len(result) > 1 else None
        _core.note_one_env(env, reward, bool(ended))
        return
    _core.infer_count("env_steps", steps)
    if ended:
        _core.infer_count("episodes", ended)


def note_reset(guess: Guess, result: Any) -> None:
    if guess.first is None:
        guess.first = _kind_of(result)


# --- before the guess is confirmed ------------------------------------------------------------------------------------


class _Trial:
    """A call that is watched. Environments inside it may be watched, or counted, as well."""

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.counted_before = _core.env_steps_here()
        self.counted = False
        self.inner: list[Guess] = []


class _Trials(threading.local):
    def __init__(self) -> None:
        self.open: list[_Trial] = []


_trials = _Trials()


def try_step(guess: Guess, original: Function, env: Any, args: Any, kwargs: Any) -> Any:
    """Call `step`, watch what it takes and returns, and make up for its env steps once there have been enough."""
    around, trial = _trials.open, _Trial(guess)
    if any(outer.guess is guess for outer in around):  # a method that calls the one it overrides
        return original(env, *args, **kwargs)
    around.append(trial)
    try:
        result = original(env, *args, **kwargs)
    finally:
        around.remove(trial)
    for inner in trial.inner:  # its steps were parts of this one
        inner.pending = 0
    if not looks_like_a_step(guess, args, kwargs, result):
        guess.misfit()
        return result
    guess.fits += 1
    guess.of_many = shares_batch(args[0] if args else None, result)
    if not trial.counted and _core.env_steps_here() == trial.counted_before:
        guess.pending += _steps(guess, result)
    if guess.fits >= FITS:
        guess.confirm(env, original)
        _core.infer_count("env_steps", guess.pending)
        guess.pending = 0
    for outer in around[-1:]:
        outer.inner.append(guess)
        outer.counted = outer.counted or trial.counted or guess.confirmed
    return result


def _steps(guess: Guess, result: Any) -> int:
    try:
        return env_steps_of(result, guess.of_many)
    except Exception:  # values of any making: it was a step
        return 1


def looks_like_a_step(guess: Guess, args: Any, kwargs: Any, result: Any) -> bool:
    """An action goes in; out come rewards and ends of episodes, or an observation like the one `reset` gave."""
    if not args and not kwargs:
        return False
    try:
        if isinstance(result, tuple) and any(type(item).__name__.endswith("Tracer") for item in result):
            return False  # a compiler is looking: nothing has been computed
        return _is_transition(result) or (guess.first is not None and _kind_of(result) == guess.first)
    except Exception:  # values of any making
        return False


def _is_transition(result: Any) -> bool:
    if not isinstance(result, tuple) or not 3 <= len(result) <= 5:
        return False
    rewards = is_column(result[1]) or is_column(result[2])
    flags = is_flag(result[2]) or is_flag(result[-2])
    if len(result) == 3:
        return rewards and flags
    info = result[-1] is None or isinstance(result[-1], (Mapping, list, tuple)) or hasattr(result, "_fields")
    return rewards and (flags or info)


def _kind_of(observation: Any) -> tuple[Any, ...] | None:
    """What an observation is like: an array of some shape, or a mapping. A number or nothing is none."""
    if isinstance(observation, tuple):
        return _kind_of(observation[0]) if observation else None
    shape = getattr(observation, "shape", None)
    if shape is not None and len(shape):
        return type(observation).__name__, tuple(shape)
    if isinstance(observation, Mapping) or hasattr(observation, "keys"):
        return type(observation).__name__, tuple(observation.keys())
    return None
