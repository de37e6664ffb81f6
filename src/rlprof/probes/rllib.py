"""RLlib (its new API stack): env runners here and in workers, the learner, advantages, buffers, weights, evaluation."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import count_from
from rlprof.probes.groups import BUFFER, EVALUATE, FORWARD, TRAIN, WEIGHTS
from rlprof.probes.loop import loop
from rlprof.probes.patching import ORIGINAL, Patches, is_patched
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "ray"


def _sampling(original: Callable[..., Any]) -> Callable[..., Any]:
    """Asking all env runners for their episodes. Steps that workers made are counted here, where none are lost."""

    def sample(*args: Any, worker_set: Any, **kwargs: Any) -> Any:
        loop.env_step()
        if worker_set.num_remote_workers() <= 0:
            return original(*args, worker_set=worker_set, **kwargs)
        with _core.span_of_kind("collect", "env.wait", PROBE):
            result = original(*args, worker_set=worker_set, **kwargs)
        if kwargs.get("_return_metrics") and not _core.is_busy(EVALUATE):
            count_from(LIBRARY, _count_steps, result)
        return result

    return sample


def _count_steps(result: Any) -> None:
    _core.infer_count("env_steps", sum(int(found.get("num_env_steps_sampled", 0)) for found in result[1]))


def install_sampling(module: ModuleType, patches: Patches) -> None:
    patches.function(module, "synchronous_parallel_sample", _sampling)


def install_runners(module: ModuleType, patches: Patches) -> None:
    follow_subclasses(module.EnvRunner, {"sample": timed("collect", None)}, patches)


def install_runner_group(module: ModuleType, patches: Patches) -> None:
    patches.method(module.EnvRunnerGroup, "sync_weights", outermost("weights.sync", "weights.sync", WEIGHTS))


def install_learner(module: ModuleType, patches: Patches) -> None:
    """What is left of an update beside its forward, backward and optimizer is learning, too."""
    patches.method(module.Learner, "update", outermost("train", "learn.other", TRAIN))


def install_advantage(module: ModuleType, patches: Patches) -> None:
    """The critic it asks belongs to it."""
    estimation: Any = module.GeneralAdvantageEstimation
    patches.method(estimation, "__call__", outermost("advantage", "advantage", FORWARD))


def install_buffers(module: ModuleType, patches: Patches) -> None:
    methods = {
        "add": outermost("buffer.add", "buffer.add", BUFFER),
        "sample": outermost("buffer.sample", "buffer.sample", BUFFER),
    }
    follow_subclasses(module.ReplayBufferInterface, methods, patches)


def install_algorithms(module: ModuleType, patches: Patches) -> None:
    patches.method(module.Algorithm, "evaluate", outermost("evaluate", "evaluate", EVALUATE))
    patches.method(module.Algorithm, "save_checkpoint", timed("save", "checkpoint"))


def _is_function_too(original: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Ray makes remote methods of a class's functions only, and a patched `step` need not be one for Python."""

    def call(value: Any) -> bool:
        return original(value) or (is_patched(value) and original(getattr(value, ORIGINAL)))

    return call


def install_inspection(module: ModuleType, patches: Patches) -> None:
    patches.function(module, "is_function_or_method", _is_function_too)


WATCHED: Final = {
    "ray._private.inspect_util": install_inspection,
    "ray.rllib.execution.rollout_ops": install_sampling,
    "ray.rllib.env.env_runner": install_runners,
    "ray.rllib.env.env_runner_group": install_runner_group,
    "ray.rllib.core.learner.learner": install_learner,
    "ray.rllib.connectors.learner.general_advantage_estimation": install_advantage,
    "ray.rllib.utils.replay_buffers.base": install_buffers,
    "ray.rllib.algorithms.algorithm": install_algorithms,
}
