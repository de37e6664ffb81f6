"""Weights & Biases: starting a run, logging to it, finishing it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from rlprof.probes.groups import LOG
from rlprof.probes.logged_rates import noting_scalars, rates
from rlprof.probes.patching import Patches
from rlprof.record.wrap import chained, outermost

LIBRARY: Final = "wandb"


def install(module: ModuleType, patches: Patches) -> None:
    """`wandb` is loaded. `wandb.log` comes to be the running run's own method, so it is the class that is patched."""
    patches.function(module, "init", outermost("wandb.init", "log", LOG))
    patches.function(module, "finish", outermost("wandb.finish", "log", LOG))
    run: Any = sys.modules["wandb.sdk.wandb_run"].Run
    patches.method(run, "log", chained(noting_scalars, outermost("wandb.log", "log", LOG)))
    rates.watch(patches)
    for name in ("log_artifact", "log_code", "finish"):
        patches.method(run, name, outermost(f"wandb.{name}", "log", LOG))


WATCHED: Final = {"wandb": install}
