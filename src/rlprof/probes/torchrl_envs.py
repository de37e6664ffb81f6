"""TorchRL's environments: steps and resets of the outermost one, and what worker processes cost their parent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.compiling import outside_compiler
from rlprof.probes.evaluations import FEWEST_OUTSIDE
from rlprof.probes.groups import ENV, EVALUATE, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.probes.vector_steps import sending, waiting
from rlprof.record.stretches import stretches
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "torchrl"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_count = _core.infer_count
_count_true = _core.count_true
_env_steps = _core.env_steps_here
_EXPLORING: Final = (None, "random")
_HELD: Final = "_tensordict"  # where a plain TensorDict keeps its entries


def _timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """Around the outermost step."""

    def step(self: Any, tensordict: Any, *args: Any, **kwargs: Any) -> Any:
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
    held = getattr(tensordict, _HELD, None)
    named = held if type(held) is dict else tensordict.keys()
    asked = tensordict.get("_step", None) if "_step" in named else None
    if asked is not None and asked.device.type == "cpu":
        return int(asked.sum())
    return int(tensordict.numel())


def _note_episodes(result: Any) -> None:
    try:
        after = result[0] if isinstance(result, tuple) else result
        done = _entry(_entry(after, "next", after), "done", None)
        if done is None or not done.is_cpu:
            return
        bytewise = done.element_size() == 1 and done.is_contiguous()
        ended = _count_true(done.data_ptr(), done.numel()) if bytewise else int(done.sum())
    except (
        AttributeError,
        KeyError,
        RuntimeError,
        TypeError,
        ValueError,
    ):  # an environment of another form: its steps count
        return
    if ended:
        _count("episodes", ended)


def _entry(tensordict: Any, name: str, default: Any) -> Any:
    """What `get` would give, at a twentieth of the time where the dictionary inside can be asked."""
    held = getattr(tensordict, _HELD, None)
    return held.get(name, default) if type(held) is dict else tensordict.get(name, default)


def _piped_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """Workers' environments may be inside of others: what they cost is seen there, too."""
    sent = sending(original)
    step = _timed_step(sent)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (sent if _is_busy(ENV) else step)(self, *args, **kwargs)

    return call


def _shared_memory_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """The parent copies into shared memory, waits, and copies out; without such memory it goes by way of `_step`."""
    piped, step = _piped_step(original), _timed_step(original)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "_use_buffers", False):
            return piped(self, *args, **kwargs)
        return (original if _is_busy(ENV) else step)(self, *args, **kwargs)

    return call


def _timed_reset(original: Callable[..., Any]) -> Callable[..., Any]:
    """The first reset of environments in workers starts the workers, which is no reset: it has no phase."""

    def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        name, phase = ("first reset", None) if getattr(self, "is_closed", False) else ("env.reset", "env.reset")
        with _guarded_span(name, phase, PROBE, RESET):
            return original(self, *args, **kwargs)

    return reset


def _rollout(original: Callable[..., Any]) -> Callable[..., Any]:
    """A policy that plays with exploration switched off, in a program that plays otherwise, too, is being evaluated:
    `with set_exploration_type(ExplorationType.DETERMINISTIC): env.rollout(1000, policy)`.
    """
    playing = timed("rollout", None)(original)
    evaluating = outermost("evaluate", "evaluate", EVALUATE)(original)
    exploration: Callable[[], Any] = sys.modules["torchrl.envs.utils"].exploration_type
    steps_inside = 0

    def rollout(self: Any, max_steps: int, policy: Any = None, *args: Any, **kwargs: Any) -> Any:
        nonlocal steps_inside
        explores = policy is None or exploration() in _EXPLORING
        before = _env_steps()
        if explores or before - steps_inside < FEWEST_OUTSIDE:
            return playing(self, max_steps, policy, *args, **kwargs)
        try:
            return evaluating(self, max_steps, policy, *args, **kwargs)
        finally:
            steps_inside += _env_steps() - before
            _core.settle_steps(False)  # the program's own next step is one to collect again

    return rollout


def install_utils(module: ModuleType, patches: Patches) -> None:
    """`torchrl.envs.utils` is loaded. Steps that check an environment are no experience."""
    patches.function(module, "check_env_specs", outermost("check environment", None, EVALUATE))


def install(module: ModuleType, patches: Patches) -> None:
    """`torchrl.envs` is loaded. Nor are steps that a transform takes to learn how observations are distributed."""
    torchrl: Any = module
    patches.method(torchrl.ObservationNorm, "init_stats", outermost("observation statistics", None, EVALUATE))
    parallel = torchrl.ParallelEnv
    patches.method(parallel, "_step", outside_compiler(_piped_step))
    patches.method(parallel, "step_and_maybe_reset", outside_compiler(_shared_memory_step))
    patches.method(parallel, "_wait_for_workers", waiting)
    patches.method(parallel, "_start_workers", timed("start workers", None))
    patches.method(parallel, "_shutdown_workers", timed("stop workers", None))
    # `step`, `step_and_maybe_reset` and `_step` call each other, and so do environments around environments.
    step = outside_compiler(_timed_step, ENV)
    reset = outside_compiler(_timed_reset, RESET)
    methods = {
        "step": step,
        "step_and_maybe_reset": step,
        "_step": step,
        "reset": reset,
        "_reset": reset,
        "rollout": outside_compiler(_rollout),
    }
    follow_subclasses(torchrl.EnvBase, methods, patches)


WATCHED: Final = {"torchrl.envs.utils": install_utils, "torchrl.envs": install}
