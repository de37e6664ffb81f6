"""Stable-Baselines3 and sb3-contrib: rollouts, training, buffers, vector environments, evaluation, logging."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import say_uncounted
from rlprof.probes.drawing import drawing
from rlprof.probes.groups import BUFFER, CHECKPOINT, ENV, EVALUATE, FORWARD, LOG, RESET, START, TRAIN
from rlprof.probes.logged_rates import rates
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.probes.vector_steps import answering, sending, waiting
from rlprof.record.noted import note
from rlprof.record.wrap import Wrap, chained, named_by_class, outermost, outermost_step, stretches, timed

LIBRARY: Final = "stable_baselines3"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy


class Searching:
    """Whether `evaluate_policy` is how an algorithm gathers its experience right now."""

    def __init__(self) -> None:
        self.depth = 0


searching = Searching()


def _timed_vec_step(original: Callable[..., Any]) -> Callable[..., Any]:
    count = _core.BatchedSteps(EVALUATE, partial(say_uncounted, LIBRARY))
    return outermost_step("env.step", ENV, before=loop.look, after=count)(original)


def _learning_forward(original: Callable[..., Any]) -> Callable[..., Any]:
    """`evaluate_actions` goes past the module's own call; it is always for learning."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_busy(FORWARD):
            return original(*args, **kwargs)
        loop.begin_loss(None)
        with _guarded_span("forward", "learn.loss", PROBE, FORWARD):
            return original(*args, **kwargs)

    return call


def _values(original: Callable[..., Any]) -> Callable[..., Any]:
    """`predict_values` is for acting, unless an algorithm fits its value function by it while it trains."""
    acting = outermost("forward", "policy.forward", FORWARD)(original)
    learning = _learning_forward(original)

    def call(*args: Any, **kwargs: Any) -> Any:
        return learning(*args, **kwargs) if _is_busy(TRAIN) else acting(*args, **kwargs)

    return call


def evaluation(original: Callable[..., Any]) -> Callable[..., Any]:
    timed_evaluation = outermost("evaluate", "evaluate", EVALUATE)(original)

    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if searching.depth else timed_evaluation(*args, **kwargs)

    return call


def _running_the_loop(original: Callable[..., Any]) -> Callable[..., Any]:
    """An algorithm begins to learn. What it does is known; in a loop of the program's own, which may well use a buffer
    or a policy from here, more is inferred.
    """

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        note("algorithm", type(self).__name__)
        loop.give_up_stages()
        return original(self, *args, **kwargs)

    return call


def install_algorithms(module: ModuleType, patches: Patches) -> None:
    """What is left of `train` beside its forward, backward and optimizer is learning, too."""
    methods = {
        "collect_rollouts": timed("rollout", None),
        "train": outermost("train", "learn.other", TRAIN),
        "save": outermost("model.save", "checkpoint", CHECKPOINT),
        "_store_transition": outermost("buffer.add", "buffer.add", BUFFER),
        "_setup_learn": _running_the_loop,
    }
    follow_subclasses(module.BaseAlgorithm, methods, patches)


def install_policies(module: ModuleType, patches: Patches) -> None:
    acting = outermost("forward", "policy.forward", FORWARD)
    methods = {"predict": acting, "predict_values": _values, "evaluate_actions": _learning_forward}
    follow_subclasses(module.BaseModel, methods, patches)


def install_buffers(module: ModuleType, patches: Patches) -> None:
    methods = {
        "add": outermost("buffer.add", "buffer.add", BUFFER),
        "sample": drawing(),
        "get": stretches("buffer.sample", "buffer.sample"),
        "compute_returns_and_advantage": timed("advantage", "advantage"),
    }
    follow_subclasses(module.BaseBuffer, methods, patches)


def install_vec_env(module: ModuleType, patches: Patches) -> None:
    patches.method(module.VecEnv, "step", _timed_vec_step)
    follow_subclasses(module.VecEnvWrapper, {"step_wait": named_by_class("env.step", ENV)}, patches)
    follow_subclasses(module.VecEnv, {"reset": outermost("env.reset", "env.reset", RESET)}, patches)


def _unless_starting(wrap: Wrap) -> Wrap:
    def careful(original: Callable[..., Any]) -> Callable[..., Any]:
        watched = wrap(original)

        def call(*args: Any, **kwargs: Any) -> Any:
            return original(*args, **kwargs) if _is_busy(START) else watched(*args, **kwargs)

        return call

    return careful


def install_subproc(module: ModuleType, patches: Patches) -> None:
    patches.method(module.SubprocVecEnv, "step_async", sending)
    patches.method(module.SubprocVecEnv, "step_wait", waiting)
    patches.function(module, "_worker", answering(0))
    # The first answer of a worker comes once it has imported everything, which is no communication.
    patches.method(module.SubprocVecEnv, "__init__", outermost("start workers", None, START))
    for name in ("env_method", "get_attr", "set_attr"):
        patches.method(module.SubprocVecEnv, name, _unless_starting(timed(f"env.{name}", "env.ipc")))


def install_evaluation(module: ModuleType, patches: Patches) -> None:
    patches.function(module, "evaluate_policy", evaluation)


def _noting_rates(original: Callable[..., Any]) -> Callable[..., Any]:
    """What is recorded is looked at once it is written: programs record at each step, and write now and then."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        rates.see_all(getattr(self, "name_to_value", None))
        return original(self, *args, **kwargs)

    return call


def install_logger(module: ModuleType, patches: Patches) -> None:
    patches.method(module.Logger, "dump", chained(_noting_rates, outermost("log", "log", LOG)))
    rates.watch(patches)


WATCHED: Final = {
    "stable_baselines3.common.base_class": install_algorithms,
    "stable_baselines3.common.policies": install_policies,
    "stable_baselines3.common.buffers": install_buffers,
    "stable_baselines3.common.vec_env.base_vec_env": install_vec_env,
    "stable_baselines3.common.vec_env.subproc_vec_env": install_subproc,
    "stable_baselines3.common.evaluation": install_evaluation,
    "stable_baselines3.common.logger": install_logger,
}
