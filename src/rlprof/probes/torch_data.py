"""torch: waiting for the next batch of a DataLoader, and starting and ending the processes that load it."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from rlprof.probes.groups import BUFFER
from rlprof.probes.patching import Patches
from rlprof.record.wrap import outermost, timed

LIBRARY: Final = "torch's DataLoader"
PHASE: Final = "buffer.sample"


def install(module: ModuleType, patches: Patches) -> None:
    """`torch.utils.data.dataloader` is loaded. A batch to learn from is drawn, as from a replay buffer."""
    with_workers = module._MultiProcessingDataLoaderIter
    for owner, method, wrap in (
        (module._BaseDataLoaderIter, "__next__", outermost("dataloader.next", PHASE, BUFFER)),
        (with_workers, "__init__", outermost("dataloader.start", PHASE, BUFFER)),
        (with_workers, "_shutdown_workers", timed("dataloader.stop", PHASE)),  # mostly inside the last `__next__`
    ):
        if not patches.method(owner, method, wrap):
            raise AttributeError(f"{owner.__name__}.{method}")


WATCHED: Final = {"torch.utils.data.dataloader": install}
