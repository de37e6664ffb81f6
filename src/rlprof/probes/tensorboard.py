"""TensorBoard: what its summary writers are given, by torch's own and by tensorboardX."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes.groups import LOG
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost

LIBRARY: Final = "tensorboard"


def _install_as(library: str) -> Callable[[ModuleType, Patches], None]:
    def install(module: ModuleType, patches: Patches) -> None:
        writer: Any = module.SummaryWriter
        names = [name for name in vars(writer) if name.startswith("add_") or name in ("flush", "close")]
        follow_subclasses(writer, {name: outermost(f"{library}.{name}", "log", LOG) for name in names}, patches)

    return install


WATCHED: Final = {
    "torch.utils.tensorboard.writer": _install_as("tensorboard"),
    "tensorboardX.writer": _install_as("tensorboardX"),
}
