"""TensorDict: operations that copy whole dictionaries, by name.

The many small ones, of which TorchRL makes dozens in every env step, take less than it would take to time them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from rlprof.probes.compiling import outside_compiler
from rlprof.probes.groups import TENSORDICT
from rlprof.probes.patching import Patches, Wrap
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost

LIBRARY: Final = "tensordict"

METHODS: Final = ("to", "contiguous", "gather", "memmap", "memmap_", "pin_memory", "update_")
FUNCTIONS: Final = ("stack", "cat")


def _operation(name: str) -> Wrap:
    """It has no phase of its own: it belongs to whatever asks for it."""
    return outside_compiler(outermost(f"TensorDict.{name}", None, TENSORDICT))


def install_base(module: ModuleType, patches: Patches) -> None:
    """`tensordict.base` is loaded."""
    follow_subclasses(module.TensorDictBase, {name: _operation(name) for name in METHODS}, patches)


def install_functions(module: ModuleType, patches: Patches) -> None:
    """`tensordict._torch_func` is loaded: torch's own `stack` and `cat` find theirs in a table."""
    torch: Any = sys.modules["torch"]
    table: Any = vars(module)["TD_HANDLED_FUNCTIONS"]
    for name in FUNCTIONS:
        original = getattr(module, f"_{name}")
        if patches.function(module, f"_{name}", _operation(name)):
            _enter(table, getattr(torch, name), original, getattr(module, f"_{name}"), patches)


def _enter(table: Any, key: Any, original: Any, ours: Any, patches: Patches) -> None:
    def restore() -> None:
        if table.get(key) is ours:  # else somebody has replaced it
            table[key] = original

    if table.get(key) is original:
        table[key] = ours
        patches.on_undo(restore)


WATCHED: Final = {"tensordict.base": install_base, "tensordict._torch_func": install_functions}
