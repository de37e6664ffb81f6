"""sb3-contrib, where it goes ways of its own: action masks, its own evaluation, and ARS, which has no gradients."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.sb3 import evaluation, searching
from rlprof.record.wrap import timed

LIBRARY: Final = "sb3_contrib"


def _candidates(original: Callable[..., Any]) -> Callable[..., Any]:
    """ARS plays episodes with each candidate through `evaluate_policy`: that is its rollout."""

    def call(*args: Any, **kwargs: Any) -> Any:
        searching.depth += 1
        try:
            with _core.span_of_kind("rollout", None, PROBE):
                return original(*args, **kwargs)
        finally:
            searching.depth -= 1

    return call


def _update(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        loop.update()
        return result

    return call


def install_ars(module: ModuleType, patches: Patches) -> None:
    patches.method(module.ARS, "evaluate_candidates", _candidates)
    patches.method(module.ARS, "_do_one_update", _update)


def install_masks(module: ModuleType, patches: Patches) -> None:
    """Masks are worked out by the environments, step for step."""
    patches.function(module, "get_action_masks", timed("env.action_masks", "env.step"))


def install_evaluation(module: ModuleType, patches: Patches) -> None:
    patches.function(module, "evaluate_policy", evaluation)


WATCHED: Final = {
    "sb3_contrib.ars.ars": install_ars,
    "sb3_contrib.common.maskable.utils": install_masks,
    "sb3_contrib.common.maskable.evaluation": install_evaluation,
}
