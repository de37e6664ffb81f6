"""Stable-Baselines3's callbacks and the episode files of its `Monitor`.

Nobody can know what a callback is for. Most of them watch and log, so their own time counts as that; what they evaluate
and save is seen below them and counts as what it is.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from rlprof.probes.groups import CALLBACK, LOG
from rlprof.probes.patching import Patches
from rlprof.record.wrap import named_by_class, outermost

LIBRARY: Final = "stable_baselines3 callbacks"


def install_callbacks(module: ModuleType, patches: Patches) -> None:
    for name in ("on_training_start", "on_rollout_start", "on_step", "on_rollout_end", "on_training_end"):
        patches.method(module.BaseCallback, name, named_by_class("log", CALLBACK, whole=True))


def install_monitor(module: ModuleType, patches: Patches) -> None:
    patches.method(module.ResultsWriter, "write_row", outermost("monitor.csv", "log", LOG))


WATCHED: Final = {
    "stable_baselines3.common.callbacks": install_callbacks,
    "stable_baselines3.common.monitor": install_monitor,
}
