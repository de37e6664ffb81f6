"""torch: waiting for the next batch of a DataLoader."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from rlprof.probes.groups import BUFFER
from rlprof.probes.patching import Patches
from rlprof.record.wrap import outermost

LIBRARY: Final = "torch's DataLoader"


def install(module: ModuleType, patches: Patches) -> None:
    """`torch.utils.data.dataloader` is loaded. A batch to learn from is drawn, as from a replay buffer."""
    wrap = outermost("dataloader.next", "buffer.sample", BUFFER)
    if not patches.method(module._BaseDataLoaderIter, "__next__", wrap):
        raise AttributeError("_BaseDataLoaderIter.__next__")


WATCHED: Final = {"torch.utils.data.dataloader": install}
