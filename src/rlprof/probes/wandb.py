"""Weights & Biases: starting a run, logging to it, finishing it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from rlprof.probes.groups import LOG
from rlprof.probes.patching import Patches
from rlprof.record.wrap import outermost

LIBRARY: Final = "wandb"


def install(module: ModuleType, patches: Patches) -> None:
    """`wandb` is loaded. `wandb.log` comes to be the running run's own method, so it is the class that is patched."""
    patches.function(module, "init", outermost("wandb.init", "log", LOG))
    patches.function(module, "finish", outermost("wandb.finish", "log", LOG))
    run: Any = sys.modules["wandb.sdk.wandb_run"].Run
    for name in ("log", "log_artifact", "log_code", "finish"):
        patches.method(run, name, outermost(f"wandb.{name}", "log", LOG))


WATCHED: Final = {"wandb": install}
