"""Classes of the program with `step` and `reset`: environments, if they are used like one.

A `step` that is given an action and returns what environments return has its time and its env steps counted from the
third call on; the env steps of the first two are made up for. Wrappers hold nothing but what another process can have,
too, because classes of a script may be sent there whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.batches import ended_of, env_steps_of, is_column, is_flag
from rlprof.probes.groups import ENV, EVALUATE, RENDER, RESET
from rlprof.probes.guesses import Guess
from rlprof.probes.loop import loop

FITS: Final = 2  # calls that fit before a guess is believed

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_charge = _core.charge
_now = time.perf_counter_ns

#: Rewards of running episodes by environment. An id may come to mean another environment, which begins with a reset.
_returns: dict[int, float] = {}


def timed_step(guess: Guess) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over or _is_busy(ENV):
                return original(self, *args, **kwargs)
            if not guess.confirmed:
                return try_step(guess, original, self, args, kwargs)
            began = _now()
            in_windows = begin_step()
            looked = _now()
            with _guarded_span("env.step", "env.step", PROBE, ENV):
                result = original(self, *args, **kwargs)
            stepped = _now()
            note_step(self, args, result)
            _charge(looked - began - in_windows + _now() - stepped)  # of steps of 12 us this would be a third
            return result

        return step

    return wrap


def timed_reset(guess: Guess) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or guess.over or _is_busy(RESET):
                return original(self, *args, **kwargs)
            if not guess.confirmed:
                result = original(self, *args, **kwargs)
                note_reset(guess, result)
                return result
            forget_return(self)
            with _guarded_span("env.reset", "env.reset", PROBE, RESET):
                return original(self, *args, **kwargs)

        return reset

    return wrap


def timed_render(guess: Guess) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def render(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or not guess.confirmed or guess.over or _is_busy(RENDER):
                return original(self, *args, **kwargs)
            with _guarded_span("env.render", "env.render", PROBE, RENDER):
                return original(self, *args, **kwargs)

        return render

    return wrap


def begin_step() -> int:
    return loop.env_step()


def note_step(env: Any, args: tuple[Any, ...], result: Any) -> None:
    """Count what a step did. Whatever it returned, it was a step."""
    if _is_busy(EVALUATE):
        return
    steps, ended = 1, 0
    try:
        if type(result) is tuple and len(result) > 2 and type(result[2]) is bool:  # one environment: the quick way
            ended = int(result[2] or (len(result) == 5 and result[3] is True))
        else:
            steps = env_steps_of(args[0] if args else None, result)
            ended = ended_of(result)
        if steps == 1:
            _core.note_single_env(env)
            _note_return(id(env), float(result[1]), ended)
    except Exception:  # values of any making: the step is counted all the same
        pass
    _core.infer_count("env_steps", steps)
    if ended:
        _core.infer_count("episodes", ended)


def _note_return(env: int, reward: float, ended: int) -> None:
    total = _returns.get(env, 0.0) + reward
    if ended:
        _core.infer_count("episode_return", total)
        total = 0.0
    _returns[env] = total


def note_reset(guess: Guess, result: Any) -> None:
    if guess.first is None:
        guess.first = _kind_of(result)


def forget_return(env: Any) -> None:
    _returns.pop(id(env), None)


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


def try_step(guess: Guess, original: Callable[..., Any], env: Any, args: Any, kwargs: Any) -> Any:
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
    if not trial.counted and _core.env_steps_here() == trial.counted_before:
        guess.pending += _steps(args, result)
    if guess.fits >= FITS:
        guess.confirm(env, original)
        _core.infer_count("env_steps", guess.pending)
        guess.pending = 0
    for outer in around[-1:]:
        outer.inner.append(guess)
        outer.counted = outer.counted or trial.counted or guess.confirmed
    return result


def _steps(args: tuple[Any, ...], result: Any) -> int:
    try:
        return env_steps_of(args[0] if args else None, result)
    except Exception:  # as in note_step
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
