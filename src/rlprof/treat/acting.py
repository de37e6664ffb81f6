"""The calls by which a program acts: the outermost forward pass without gradients, outside of learning.

Where a module of the program's own has a method such as `get_action_and_value`, that is the outermost call.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

from rlprof import _core
from rlprof.probes.groups import LOSS, TRAIN
from rlprof.probes.own_code import TREATED, as_written
from rlprof.probes.patching import Patches
from rlprof.probes.policy_methods import NAMES
from rlprof.probes.telling_names import is_plain

Function = Callable[..., Any]
#: Called with the original function and its arguments, the module first.
Act = Callable[[Function, tuple[Any, ...], dict[str, Any]], Any]

_is_busy = _core.is_busy


class _Here(threading.local):
    """Whether this thread is in an acting call. Classes of the script may travel to workers with their methods."""

    def __init__(self) -> None:
        self.inside = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _Here, ()


def treat_acting(torch: Any, patches: Patches, act: Act) -> None:
    """Let `act` make every acting call from now on. Those inside of it are made as they were."""
    wrap = _acting_only(torch, act)
    module = torch.nn.Module
    patches.attribute(module, "__call__", wrap(module.__call__))

    def made(cls: type) -> None:
        for name in NAMES:
            method = vars(cls).get(name)
            if is_plain(method):
                with contextlib.suppress(TypeError, AttributeError):  # a metaclass may refuse
                    patches.attribute(cls, name, wrap(method))

    patches.new_subclass(module, made)


def _acting_only(torch: Any, act: Act) -> Callable[[Any], Function]:
    here = _Here()
    is_compiling, learns = torch.compiler.is_compiling, torch.is_grad_enabled

    def wrap(original: Any) -> Function:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            # First what a compiler can answer by itself while it reads this.
            if is_compiling() or learns() or here.inside or _is_busy(TRAIN) or _is_busy(LOSS):
                return original(*args, **kwargs)
            here.inside = True
            try:
                return act(original, args, kwargs)
            finally:
                here.inside = False

        setattr(call, TREATED, as_written(original))
        return call

    return wrap
