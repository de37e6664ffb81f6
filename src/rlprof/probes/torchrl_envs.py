"""TorchRL's environments: steps and resets of the outermost one, and what worker processes cost their parent."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.compiling import outside_compiler
from rlprof.probes.groups import ENV, EVALUATE, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.probes.vector_steps import sending, waiting
from rlprof.record.stretches import stretches
from rlprof.record.wrap import timed

LIBRARY: Final = "torchrl"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_count = _core.infer_count


def _timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """`step`, `step_and_maybe_reset` and `_step` call each other, and so do environments around environments."""

    def step(self: Any, tensordict: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(ENV):
            return original(self, tensordict, *args, **kwargs)
        loop.env_step()
        steps = _steps_asked_for(tensordict)
        begin = stretches.simulating() if stretches.in_worker else 0
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, tensordict, *args, **kwargs)
        if begin:
            stretches.simulated(begin)
        if not _is_busy(EVALUATE):
            _count("env_steps", steps)
            _note_episodes(result)
        return result

    return step


def _steps_asked_for(tensordict: Any) -> int:
    """Every entry of the batch is a step, but for those that a mask leaves out. No device is waited for."""
    asked = tensordict.get("_step", None) if "_step" in tensordict.keys() else None  # noqa: SIM118 - it has no `in`
    if asked is not None and asked.device.type == "cpu":
        return int(asked.sum())
    return int(tensordict.numel())


def _note_episodes(result: Any) -> None:
    try:
        after = result[0] if isinstance(result, tuple) else result
        done = after.get("next", after).get("done", None)
        if done is None or done.device.type != "cpu" or not done.any():
            return
        ended = int(done.sum())
    except (AttributeError, KeyError, TypeError, ValueError):  # an environment of another form: its steps count
        return
    _count("episodes", ended)


def _shared_memory_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """The parent copies into shared memory, waits, and copies out; without such memory it goes by way of `_step`."""
    step = _timed_step(sending(original))
    plain = _timed_step(original)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (step if getattr(self, "_use_buffers", False) else plain)(self, *args, **kwargs)

    return call


def _timed_reset(original: Callable[..., Any]) -> Callable[..., Any]:
    """The first reset of environments in workers starts the workers, which is no reset: it has no phase."""

    def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(RESET):
            return original(self, *args, **kwargs)
        name, phase = ("first reset", None) if getattr(self, "is_closed", False) else ("env.reset", "env.reset")
        with _guarded_span(name, phase, PROBE, RESET):
            return original(self, *args, **kwargs)

    return reset


def install(module: ModuleType, patches: Patches) -> None:
    """`torchrl.envs` is loaded."""
    torchrl: Any = module
    parallel = torchrl.ParallelEnv
    piped_step = outside_compiler(lambda original: _timed_step(sending(original)))
    patches.method(parallel, "_step", piped_step)
    patches.method(parallel, "step_and_maybe_reset", outside_compiler(_shared_memory_step))
    patches.method(parallel, "_wait_for_workers", waiting)
    patches.method(parallel, "_start_workers", timed("start workers", None))
    patches.method(parallel, "_shutdown_workers", timed("stop workers", None))
    step = outside_compiler(_timed_step)
    reset = outside_compiler(_timed_reset)
    methods = {
        "step": step,
        "step_and_maybe_reset": step,
        "_step": step,
        "reset": reset,
        "_reset": reset,
        "rollout": outside_compiler(timed("rollout", None)),
    }
    follow_subclasses(torchrl.EnvBase, methods, patches)


WATCHED: Final = {"torchrl.envs": install}
