"""Ways to log that are no library of their own: the `logging` module, rows that `csv.DictWriter` writes, JSON that goes
to a file, waits for the disk, and charts that are saved as pictures.

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


def install_json(module: ModuleType, patches: Patches) -> None:
    """Only what goes to a file: `json.dumps` may be for anything."""
    patches.function(module, "dump", outermost("json.dump", "log", LOG))


def install_os(module: ModuleType, patches: Patches) -> None:
    """A file that has to be on the disk after every row is a log that costs."""
    patches.function(module, "fsync", outermost("os.fsync", "log", LOG))


def install_charts(module: ModuleType, patches: Patches) -> None:
    patches.method(module.Figure, "savefig", outermost("matplotlib.savefig", "log", LOG))


WATCHED: Final = {
    "logging": install_logging,
    "csv": install_csv,
    "json": install_json,
    "os": install_os,
    "matplotlib.figure": install_charts,
}
