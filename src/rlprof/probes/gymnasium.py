"""gymnasium: the outermost environment's step, reset and render; env steps, episodes and returns as counters."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.groups import ENV, RENDER, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "gymnasium"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_count = _core.infer_count

#: Rewards of running episodes by environment. An id may come to mean another environment, which begins with a reset.
_returns: dict[int, float] = {}


def timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    def step(self: Any, action: Any, *args: Any, **kwargs: Any) -> Any:
        loop.env_step()
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, action, *args, **kwargs)
        _count("env_steps")
        _note_episode(id(self), result)
        return result

    return _core.Levels(step, original, ENV)


def _note_episode(env: int, result: Any) -> None:
    try:
        _, reward, terminated, truncated, _ = result
        total = _returns.get(env, 0.0) + float(reward)
        if terminated or truncated:
            _count("episodes")
            _count("episode_return", total)
            total = 0.0
        _returns[env] = total
    except (TypeError, ValueError):  # an environment of another making: its steps are counted all the same
        return


def timed_reset(original: Callable[..., Any]) -> Callable[..., Any]:
    def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(RESET):
            return original(self, *args, **kwargs)
        _returns.pop(id(self), None)
        with _guarded_span("env.reset", "env.reset", PROBE, RESET):
            return original(self, *args, **kwargs)

    return reset


def _timed_vector_step(original: Callable[..., Any]) -> Callable[..., Any]:
    def step(self: Any, actions: Any, *args: Any, **kwargs: Any) -> Any:
        loop.env_step()
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, actions, *args, **kwargs)
        _count("env_steps", self.num_envs)
        _note_vector_episodes(result)
        return result

    return _core.Levels(step, original, ENV)


def _may_hold(flags: Any) -> bool:
    """Whether any of an array's flags is set, asked in a tenth of the time that NumPy's own `any` takes for a few."""
    try:
        return 1 in flags.tobytes() or flags.itemsize != 1
    except AttributeError:  # a tensor: it can be asked itself, but no device is waited for
        return bool(flags.device.type == "cpu")


def _note_vector_episodes(result: Any) -> None:
    try:
        _, _, terminated, truncated, _ = result
        if not (_may_hold(terminated) or _may_hold(truncated)):
            return
        ended = int((terminated | truncated).sum())
    except (TypeError, ValueError, AttributeError):
        return
    if ended:
        _count("episodes", ended)


def install_core(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.core` is loaded: its environments, and every one defined from now on."""
    methods = {
        "step": timed_step,
        "reset": timed_reset,
        "render": outermost("env.render", "env.render", RENDER),
    }
    follow_subclasses(module.Env, methods, patches)


def install_vector(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.vector.vector_env` is loaded."""
    follow_subclasses(module.VectorEnv, {"step": _timed_vector_step, "reset": timed_reset}, patches)


def install_async(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.vector.async_vector_env` is loaded: sending actions and waiting for workers are told apart."""
    patches.method(module.AsyncVectorEnv, "step_async", timed("env.ipc", "env.ipc"))
    patches.method(module.AsyncVectorEnv, "step_wait", timed("env.wait", "env.wait"))


WATCHED: Final = {
    "gymnasium.core": install_core,
    "gymnasium.vector.vector_env": install_vector,
    "gymnasium.vector.async_vector_env": install_async,
}
