"""Methods of the program's own modules that act or judge beside `forward`, as CleanRL's `get_action_and_value`.

They are no calls of a module, only contain some: drawing an action and its probability would belong to nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.probes import compiling
from rlprof.probes.gradients import without_gradients
from rlprof.probes.groups import FORWARD
from rlprof.probes.guesses import list_inferred
from rlprof.probes.patching import Patches
from rlprof.probes.telling_names import is_plain
from rlprof.probes.torch import FORWARD_GROUPS, acts_for_learning, acts_with_gradients

NAMES: Final = (
    "get_action", "get_actions", "get_action_and_value", "get_value", "get_values", "get_logits", "get_distribution",
    "select_action", "choose_action", "sample_action", "act", "evaluate_action", "evaluate_actions",
    "forward_eval",
)  # fmt: skip


_is_busy = _core.is_busy
never: Callable[[], bool] = bool


def timed_method(name: str, is_grad_enabled: Callable[[], bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same as for the call of a module: whether it acts or learns is told by its gradients."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        listed = False
        has_gradients = never if without_gradients(original) else is_grad_enabled
        forward = _core.Forward(
            original,
            has_gradients,
            compiling.is_compiling,
            acts_with_gradients,
            acts_for_learning,
            FORWARD_GROUPS,
            wrapped=True,
        )

        def call(*args: Any, **kwargs: Any) -> Any:  # a function, since torch's compiler must see through it
            nonlocal listed
            if compiling.is_compiling():
                return original(*args, **kwargs)
            if not listed and not _is_busy(FORWARD):
                listed = True
                list_inferred(name, original, "policy")
            return forward(*args, **kwargs)

        return call

    return wrap


def watch_policy_methods(cls: type, patches: Patches) -> None:
    """A class of the user's was made."""
    torch: Any = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is None or not issubclass(cls, module):
        return
    for name in NAMES:
        if is_plain(vars(cls).get(name)):
            wrap = timed_method(f"{cls.__module__}:{cls.__qualname__}.{name}", torch.is_grad_enabled)
            patches.method_if_allowed(cls, name, wrap)
