"""Arming the probes: each waits for its library, and one that fails switches itself off."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes import (
    anomalies,
    arrivals,
    checkpoints,
    envpool,
    garbage,
    gymnasium,
    marked_ranges,
    pettingzoo,
    precision,
    rllib,
    sb3,
    sb3_callbacks,
    sb3_contrib,
    skrl,
    tensorboard,
    tensordict,
    textlogs,
    tianshou,
    torch,
    torch_compile,
    torch_data,
    torch_sites,
    torchrl,
    torchrl_envs,
    uncompiled,
    wandb,
)
from rlprof.probes.copies import replace_copies
from rlprof.probes.importing import ImportWatch
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches, undo_all
from rlprof.probes.torch_modules import SubmoduleProbe
from rlprof.probes.user_code import watch_user_code
from rlprof.record.complain import complain
from rlprof.record.options import Options

PROBES: Final = (
    gymnasium,
    torch,
    torch_sites,
    precision,
    anomalies,
    torch_data,
    torch_compile,
    marked_ranges,
    uncompiled,
    sb3,
    sb3_callbacks,
    sb3_contrib,
    tensordict,
    torchrl,
    torchrl_envs,
    pettingzoo,
    tianshou,
    skrl,
    envpool,
    rllib,
    tensorboard,
    wandb,
    textlogs,
    checkpoints,
    garbage,
    arrivals,
)

Install = Callable[[ModuleType, Patches], None]


class Probes:
    """All probes of this process, from `start` to `stop`."""

    def __init__(self, options: Options | None = None) -> None:
        self._options = options or Options()
        depth = self._options.module_depth
        wanted: tuple[Any, ...] = PROBES if self._options.probes else ()
        self._probes = (*wanted, SubmoduleProbe(depth)) if wanted and depth else wanted
        self._watch = ImportWatch()
        self._patches: dict[str, Patches] = {}

    def start(self) -> None:
        loop.forget()
        self._watch.start()
        for probe in self._probes:
            patches = self._patches.setdefault(probe.LIBRARY, Patches())
            for name, install in probe.WATCHED.items():
                self._watch.watch(name, _careful(probe.LIBRARY, install, patches))
        # After the libraries: an environment that derives from one of theirs is known for what it is.
        watch_user_code(self._options, self._watch, self._patches.setdefault("the program", Patches()))
        # Of libraries that were there before us, functions may have been copied before they were patched.
        replace_copies([pair for patches in self._patches.values() for pair in patches.functions])

    def stop(self) -> None:
        self._watch.stop()
        loop.end_stages()
        undo_all(list(self._patches.values()))


def _careful(library: str, install: Install, patches: Patches) -> Callable[[ModuleType], None]:
    def loaded(module: ModuleType) -> None:
        try:
            install(module, patches)
        except Exception as error:
            patches.undo()
            said = f"{library} ({_version(module)}) is not understood and not looked into: {error!r}"
            complain(f"probe {library}", said)

    return loaded


def _version(module: ModuleType) -> str:
    """That of its package, which may still be in the middle of its own import."""
    package = module.__name__.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    return version if isinstance(version, str) else "of an unknown version"
