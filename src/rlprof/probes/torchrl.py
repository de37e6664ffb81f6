"""TorchRL: collectors, replay buffers, advantages, losses, target networks, evaluation, logging."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.compiling import outside_compiler
from rlprof.probes.drawing import drawing
from rlprof.probes.groups import BUFFER, EVALUATE, FORWARD, LOG, WEIGHTS
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "torchrl"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_span = _core.span_of_kind


def _collecting(phase: str | None, counts: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Each batch of a collector's generator. Asking for one says that the loop turns.

    Where workers step the environments, their steps are known here by the frames that the collector has counted.
    """

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def iterator(self: Any, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            batches = original(self, *args, **kwargs)
            try:
                while True:
                    loop.env_step()
                    frames = self._frames
                    with _span("collect", phase, PROBE):
                        try:
                            batch = next(batches)
                        except StopIteration as stop:
                            return stop.value
                    if counts:
                        _core.infer_count("env_steps", self._frames - frames)
                    yield batch
            finally:
                batches.close()

        return iterator

    return wrap


def install_collectors(module: ModuleType, patches: Patches) -> None:
    """`torchrl.collectors` is loaded."""
    torchrl: Any = module
    gathering, collecting = _collecting("env.wait", True), _collecting(None, False)
    for name in ("MultiSyncCollector", "MultiAsyncCollector"):
        patches.method(getattr(torchrl, name), "iterator", gathering)
        for base in getattr(torchrl, name).__mro__:
            patches.method(base, "_run_processes", timed("start workers", None))
            patches.method(base, "_shutdown_main", timed("stop workers", None))
    patches.method(torchrl.Collector, "iterator", collecting)
    sync = outermost("weights.sync", "weights.sync", WEIGHTS)
    follow_subclasses(torchrl.BaseCollector, {"update_policy_weights_": sync}, patches)
    if hasattr(torchrl, "Evaluator"):
        patches.method(torchrl.Evaluator, "evaluate", outermost("evaluate", "evaluate", EVALUATE))


def install_buffers(module: ModuleType, patches: Patches) -> None:
    """`torchrl.data` is loaded. Priorities are there for sampling, so their upkeep is sampling, too."""
    adding = outside_compiler(outermost("buffer.add", "buffer.add", BUFFER))
    ranking = outside_compiler(outermost("buffer.priorities", "buffer.sample", BUFFER))
    methods = {
        "add": adding,
        "extend": adding,
        "sample": outside_compiler(drawing()),
        "update_priority": ranking,
        "update_tensordict_priority": ranking,
    }
    follow_subclasses(module.ReplayBuffer, methods, patches)


def _advantage(original: Callable[..., Any]) -> Callable[..., Any]:
    """The critic it asks belongs to it. Inside a loss it is still the advantage."""

    def call(*args: Any, **kwargs: Any) -> Any:
        inside = _is_busy(FORWARD)
        with _span(*_ADVANTAGE) if inside else _guarded_span(*_ADVANTAGE, FORWARD):
            return original(*args, **kwargs)

    return call


_ADVANTAGE: Final = ("advantage", "advantage", PROBE)


def _loss(original: Callable[..., Any]) -> Callable[..., Any]:
    """A loss is learning, whether or not its gradients are asked for."""
    is_grad_enabled: Callable[[], bool] = sys.modules["torch"].is_grad_enabled

    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_busy(FORWARD):
            return original(*args, **kwargs)
        if is_grad_enabled():
            loop.begin_loss(None)
        with _guarded_span("forward", "learn.loss", PROBE, FORWARD):
            return original(*args, **kwargs)

    return call


def install_objectives(module: ModuleType, patches: Patches) -> None:
    """`torchrl.objectives` is loaded. Its modules are called as modules are, which says nothing about their kind."""
    torchrl: Any = module
    patches.inherited(torchrl.value.ValueEstimatorBase, "__call__", outside_compiler(_advantage))
    patches.inherited(torchrl.LossModule, "__call__", outside_compiler(_loss))
    patches.method(torchrl.utils.TargetNetUpdater, "step", timed("target", "learn.other"))


def install_loggers(module: ModuleType, patches: Patches) -> None:
    """`torchrl.record.loggers` is loaded."""
    names = ("log_scalar", "log_metrics", "log_histogram", "log_video", "log_hparams")
    follow_subclasses(module.Logger, dict.fromkeys(names, outermost("log", "log", LOG)), patches)


WATCHED: Final = {
    "torchrl.collectors": install_collectors,
    "torchrl.data": install_buffers,
    "torchrl.objectives": install_objectives,
    "torchrl.record.loggers": install_loggers,
}
