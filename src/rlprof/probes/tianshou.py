"""tianshou: collectors, vector environments and their workers, buffers, returns, updates, tests, logging."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import count_from
from rlprof.probes.groups import BUFFER, ENV, EVALUATE, FORWARD, LOG, RESET, TRAIN
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "tianshou"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy


def _timed_vector_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """A call steps those environments whose results it gives, which need not be all of them."""

    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(ENV):
            return original(self, *args, **kwargs)
        loop.env_step()
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, *args, **kwargs)
        if not _is_busy(EVALUATE):
            count_from(LIBRARY, _count_steps, result)
        return result

    return step


def _count_steps(result: Any) -> None:
    _, rewards, terminated, truncated, _ = result
    _core.infer_count("env_steps", len(rewards))
    ended = int((terminated | truncated).sum())
    if ended:
        _core.infer_count("episodes", ended)


def install_envs(module: ModuleType, patches: Patches) -> None:
    methods = {"step": _timed_vector_step, "reset": outermost("env.reset", "env.reset", RESET)}
    follow_subclasses(module.BaseVectorEnv, methods, patches)


def install_workers(module: ModuleType, patches: Patches) -> None:
    patches.method(module.SubprocEnvWorker, "send", timed("env.ipc", "env.ipc"))
    patches.method(module.SubprocEnvWorker, "recv", timed("env.wait", "env.wait"))


def install_collectors(module: ModuleType, patches: Patches) -> None:
    """Choosing actions includes what is done to observations and actions on the way to the policy and back."""
    follow_subclasses(module.BaseCollector, {"collect": timed("collect", None)}, patches)
    acting = {"_compute_action_policy_hidden": outermost("forward", "policy.forward", FORWARD)}
    follow_subclasses(module.Collector, acting, patches)


def install_buffers(module: ModuleType, patches: Patches) -> None:
    methods = {
        "add": outermost("buffer.add", "buffer.add", BUFFER),
        "sample": outermost("buffer.sample", "buffer.sample", BUFFER),
    }
    follow_subclasses(module.ReplayBuffer, methods, patches)


def install_algorithms(module: ModuleType, patches: Patches) -> None:
    """What is left of an update beside its forward, backward and optimizer is learning, too."""
    patches.method(module.Algorithm, "_update", outermost("train", "learn.other", TRAIN))
    # Returns and advantages, with the networks that are asked for them.
    returns = {"_preprocess_batch": outermost("advantage", "advantage", FORWARD)}
    follow_subclasses(module.Algorithm, returns, patches)
    targets = {"_update_lagged_network_weights": timed("target", "learn.other")}
    follow_subclasses(module.LaggedNetworkAlgorithmMixin, targets, patches)


def install_trainers(module: ModuleType, patches: Patches) -> None:
    patches.method(module.Trainer, "_test_step", outermost("evaluate", "evaluate", EVALUATE))


def install_loggers(module: ModuleType, patches: Patches) -> None:
    names = ("log_train_data", "log_training_data", "log_test_data", "log_update_data", "log_info_data", "write")
    follow_subclasses(module.BaseLogger, dict.fromkeys(names, outermost("log", "log", LOG)), patches)


WATCHED: Final = {
    "tianshou.env.venvs": install_envs,
    "tianshou.env.worker.subproc": install_workers,
    "tianshou.data.collector": install_collectors,
    "tianshou.data.buffer.buffer_base": install_buffers,
    "tianshou.algorithm.algorithm_base": install_algorithms,
    "tianshou.trainer": install_trainers,
    "tianshou.utils.logger.logger_base": install_loggers,
}
