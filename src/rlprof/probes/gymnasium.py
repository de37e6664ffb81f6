"""gymnasium: the outermost environment's step, reset and render; env steps, episodes and returns as counters."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.probes.groups import ENV, EVALUATE, RENDER, RESET
from rlprof.probes.levels import env_levels
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.probes.vector_steps import answering, sending, waiting
from rlprof.record.wrap import outermost, outermost_step

LIBRARY: Final = "gymnasium"


def timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    outer = outermost_step("env.step", ENV, before=loop.look, after=_core.note_step)
    return _core.Levels(outer(original), original, ENV)


def timed_reset(original: Callable[..., Any]) -> Callable[..., Any]:
    return outermost("env.reset", "env.reset", RESET, after=env_levels.note_reset)(original)


def _timed_vector_step(original: Callable[..., Any]) -> Callable[..., Any]:
    outer = outermost_step("env.step", ENV, before=loop.look, after=_core.note_vector_step)
    return _core.Levels(outer(original), original, ENV)


def install_core(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.core` is loaded: its environments, and every one defined from now on."""
    methods = {
        "step": timed_step,
        "reset": timed_reset,
        "render": outermost("env.render", "env.render", RENDER),
    }
    _core.leave_out_steps_inside(EVALUATE)
    env_levels.start(patches)
    follow_subclasses(module.Env, methods, patches, wrapped=env_levels.know)


def install_vector(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.vector.vector_env` is loaded."""
    follow_subclasses(module.VectorEnv, {"step": _timed_vector_step, "reset": timed_reset}, patches)


def install_async(module: ModuleType, patches: Patches) -> None:
    """`gymnasium.vector.async_vector_env` is loaded: sending actions and waiting for workers are told apart."""
    patches.method(module.AsyncVectorEnv, "step_async", sending)
    patches.method(module.AsyncVectorEnv, "step_wait", waiting)
    patches.function(module, "_async_worker", answering(2))


WATCHED: Final = {
    "gymnasium.core": install_core,
    "gymnasium.vector.vector_env": install_vector,
    "gymnasium.vector.async_vector_env": install_async,
}
