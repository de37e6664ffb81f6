"""Files that programs save their state to by other means than torch: pickle, NumPy, safetensors."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from rlprof.probes.groups import CHECKPOINT
from rlprof.probes.patching import Patches
from rlprof.record.wrap import outermost

LIBRARY: Final = "checkpoints"


def install_pickle(module: ModuleType, patches: Patches) -> None:
    """Only what goes to a file: `pickle.dumps` is how processes talk to each other."""
    patches.function(module, "dump", outermost("pickle.dump", "checkpoint", CHECKPOINT))


def install_numpy(module: ModuleType, patches: Patches) -> None:
    for name in ("save", "savez", "savez_compressed", "savetxt"):
        patches.function(module, name, outermost(f"numpy.{name}", "checkpoint", CHECKPOINT))


def install_safetensors(module: ModuleType, patches: Patches) -> None:
    for name in ("save_file", "save_model"):
        patches.function(module, name, outermost(f"safetensors.{name}", "checkpoint", CHECKPOINT))


WATCHED: Final = {
    "pickle": install_pickle,
    "cloudpickle": install_pickle,
    "numpy": install_numpy,
    "safetensors.torch": install_safetensors,
    "safetensors.numpy": install_safetensors,
}
