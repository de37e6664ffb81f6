"""Arming the probes: each waits for its library, and one that fails switches itself off."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Final

from rlprof.probes import (
    envpool,
    gymnasium,
    pettingzoo,
    rllib,
    sb3,
    skrl,
    tianshou,
    torch,
    torchrl,
    torchrl_envs,
)
from rlprof.probes.importing import ImportWatch
from rlprof.probes.patching import Patches
from rlprof.record.complain import complain

PROBES: Final = (gymnasium, torch, sb3, torchrl, torchrl_envs, pettingzoo, tianshou, skrl, envpool, rllib)

Install = Callable[[ModuleType, Patches], None]


class Probes:
    """All probes of this process, from `start` to `stop`."""

    def __init__(self) -> None:
        self._watch = ImportWatch()
        self._patches: dict[str, Patches] = {}

    def start(self) -> None:
        self._watch.start()
        for probe in PROBES:
            patches = self._patches.setdefault(probe.LIBRARY, Patches())
            for name, install in probe.WATCHED.items():
                self._watch.watch(name, _careful(probe.LIBRARY, install, patches))

    def stop(self) -> None:
        self._watch.stop()
        for patches in self._patches.values():
            patches.undo()


def _careful(library: str, install: Install, patches: Patches) -> Callable[[ModuleType], None]:
    def loaded(module: ModuleType) -> None:
        try:
            install(module, patches)
        except Exception as error:
            patches.undo()
            version = getattr(module, "__version__", "an unknown version")
            complain(f"probe {library}", f"{library} ({version}) is not understood and not looked into: {error!r}")

    return loaded
