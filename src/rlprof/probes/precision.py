"""torch: with what precision the trained networks compute, and which line asked for a higher one than usual."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes.callers import users_place
from rlprof.probes.patching import Patches
from rlprof.record.noted import note

LIBRARY: Final = "torch's precision"
DOUBLE: Final = "torch.float64"
TRAINED: Final = "trained_parameters"  # the fact: numbers of trained values by their type
ASKED: Final = "double_precision_asked"  # the fact: where a line asked for double precision
MOST_OPTIMIZERS: Final = 64


class Precision:
    """Looks at each optimizer's parameters once."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._seen: set[int] = set()
        self._values: dict[str, int] = {}

    def look(self, optimizer: Any) -> None:
        """An optimizer has stepped. Nothing in here may fail."""
        if id(optimizer) in self._seen or len(self._seen) >= MOST_OPTIMIZERS:
            return
        self._seen.add(id(optimizer))
        try:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    kind = str(parameter.dtype)
                    self._values[kind] = self._values.get(kind, 0) + int(parameter.numel())
        except Exception:  # an optimizer of anybody's making
            return
        note(TRAINED, dict(self._values))


trained: Final = Precision()


def _asking(is_double: Callable[..., bool], what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Around a call that may ask for double precision: the line that does so first is noted."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if is_double(*args, **kwargs):
                file, line, function = users_place()
                if line:
                    note(ASKED, {"file": file, "line": line, "function": function, "what": what})
            return original(*args, **kwargs)

        return call

    return wrap


def install(module: ModuleType, patches: Patches) -> None:
    """`torch` is loaded."""
    torch: Any = module

    def asks(*args: Any, **kwargs: Any) -> bool:
        return any(wanted is torch.float64 for wanted in (*args, *kwargs.values()))

    patches.function(torch, "set_default_dtype", _asking(asks, "torch.set_default_dtype"))
    patches.method(torch.nn.Module, "double", _asking(lambda *_: True, "Module.double"))
    patches.on_undo(trained.forget)


WATCHED: Final = {"torch": install}
