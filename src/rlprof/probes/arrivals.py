"""Classes that come from another process whole, as cloudpickle sends those of a script: nobody sees them being made.

They are made empty, announced as any class, and filled afterwards. That is when they are looked at here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes.patching import Patches

LIBRARY: Final = "cloudpickle"

Told = Callable[[type], None]

_told: list[Told] = []


def watch_arrivals(told: Told, patches: Patches, *, last: bool = False) -> None:
    """Call `told` with every class that arrives from now on; `last` is for whoever looks at what others passed over."""
    _told.insert(len(_told) if last else 0, told)
    patches.on_undo(lambda: _told.remove(told))


def _telling(original: Callable[..., Any]) -> Callable[..., Any]:
    def fill(cls: Any, *args: Any, **kwargs: Any) -> Any:
        filled = original(cls, *args, **kwargs)
        for told in tuple(_told):
            told(cls)
        return filled

    return fill


def install(module: ModuleType, patches: Patches) -> None:
    """`cloudpickle.cloudpickle` is loaded. A pickle finds the function by its name, with us or without."""
    if not patches.function(module, "_class_setstate", _telling):
        raise AttributeError("_class_setstate")


WATCHED: Final = {"cloudpickle.cloudpickle": install}
