"""TensorBoard: what its summary writers are given, by torch's own and by tensorboardX."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes.groups import LOG
from rlprof.probes.logged_rates import noting_scalar, rates
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import Wrap, chained, outermost

LIBRARY: Final = "tensorboard"


def _install_as(library: str) -> Callable[[ModuleType, Patches], None]:
    def install(module: ModuleType, patches: Patches) -> None:
        writer: Any = module.SummaryWriter
        names = [name for name in vars(writer) if name.startswith("add_") or name in ("flush", "close")]
        methods: dict[str, Wrap] = {name: outermost(f"{library}.{name}", "log", LOG) for name in names}
        if "add_scalar" in methods:
            methods["add_scalar"] = chained(noting_scalar, methods["add_scalar"])
            rates.watch(patches)
        follow_subclasses(writer, methods, patches)

    return install


WATCHED: Final = {
    "torch.utils.tensorboard.writer": _install_as("tensorboard"),
    "tensorboardX.writer": _install_as("tensorboardX"),
}
