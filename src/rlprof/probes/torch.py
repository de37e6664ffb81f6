"""torch: acting and learning forwards, the loss, backward, optimizer steps, clipping, saving."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.compiling import outside_compiler
from rlprof.probes.groups import CHECKPOINT, EVALUATE, FORWARD, LOSS, OPTIMIZER, TRAIN
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.precision import trained
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "torch"

#: Of a forward pass, a loss, training as a whole, evaluation: in this order `_core.Forward` wants them.
FORWARD_GROUPS: Final = (FORWARD, LOSS, TRAIN, EVALUATE)


def timed_forward(
    is_grad_enabled: Callable[[], bool], is_compiling: Callable[[], bool]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Only the outermost call is the forward pass; whether it acts or learns is told by its gradients."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        return _core.Forward(
            original, is_grad_enabled, is_compiling, acts_with_gradients, acts_for_learning, FORWARD_GROUPS
        )

    return wrap


def acts_for_learning(code: CodeType, place: int) -> bool:
    return loop.acts_for_learning((code, place))


def acts_with_gradients(code: CodeType | None, place: int) -> bool:
    """Whether the code that calls a module is known to act; else the loss begins here.

    In a library's training, where there is no such code, the loss begins with a target network, too.
    """
    site = (code, place) if code is not None else None
    if site is not None and loop.acts(site):
        return True
    loop.begin_loss(site)
    return False


def _timed_backward(original: Callable[..., Any]) -> Callable[..., Any]:
    return _core.Timed(original, "backward", "learn.backward", PROBE, before=_core.end_loss)


def install(module: ModuleType, patches: Patches) -> None:
    """`torch` is loaded."""
    torch: Any = module
    patches.method(torch.nn.Module, "__call__", timed_forward(torch.is_grad_enabled, torch.compiler.is_compiling))
    patches.method(torch.Tensor, "backward", _timed_backward)
    steps = _core.OptimizerSteps(OPTIMIZER, trained.look, loop.update)
    hooks: Any = sys.modules["torch.optim.optimizer"]  # the package hides it behind its own name
    patches.on_undo(hooks.register_optimizer_step_pre_hook(steps.before).remove)
    patches.on_undo(hooks.register_optimizer_step_post_hook(steps.after).remove)
    patches.method(torch.optim.Optimizer, "zero_grad", outside_compiler(timed("zero_grad", "learn.other")))
    for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            patches.function(owner, name, outside_compiler(timed("clip", "learn.other")))
    patches.function(torch, "save", outermost("torch.save", "checkpoint", CHECKPOINT))


WATCHED: Final = {"torch": install}
