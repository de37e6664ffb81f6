"""Names that `from library import function` has made: they hold the function itself and see no later patch."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any


def replace_copies(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Wherever a loaded module holds the first of a pair under any name, let it hold the second."""
    wanted = {id(before): after for before, after in pairs}
    if not wanted:
        return
    for module in list(sys.modules.values()):
        if not issubclass(type(module), ModuleType):  # asking the object itself may wake a proxy
            continue
        names = vars(module)
        for name, value in list(names.items()):
            if id(value) in wanted:
                names[name] = wanted[id(value)]
