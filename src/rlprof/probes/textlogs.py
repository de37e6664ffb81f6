"""The standard library's ways to log: the `logging` module, and rows that `csv.DictWriter` writes.

A logger is patched where it hands a record to its handlers. Earlier, where it looks for the caller's line, a frame of
ours would be taken for the caller. What `csv.writer` returns, and files themselves, are types that cannot be patched.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from rlprof.probes.groups import LOG
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost

LIBRARY: Final = "logging"


def install_logging(module: ModuleType, patches: Patches) -> None:
    follow_subclasses(module.Logger, {"handle": outermost("logging", "log", LOG)}, patches)


def install_csv(module: ModuleType, patches: Patches) -> None:
    for name in ("writeheader", "writerow", "writerows"):
        patches.method(module.DictWriter, name, outermost("csv", "log", LOG))


WATCHED: Final = {"logging": install_logging, "csv": install_csv}
