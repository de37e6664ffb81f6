"""A control group with a quota of CPU time, as containers have one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


@contextmanager
def a_quota(cores: float) -> Iterator[Path]:
    """A file: who writes its process's number into it may use so many cores from then on, with all it starts.

    OSError where this machine has no such groups, or we may not make one.
    """
    old = (ROOT / "cpu" / "cpu.cfs_quota_us").exists()
    group = (ROOT / "cpu" if old else ROOT) / f"rlprof-test-{os.getpid()}"
    if not old and "cpu" not in (ROOT / "cgroup.subtree_control").read_text(encoding="ascii").split():
        raise OSError("groups here have no quotas")
    group.mkdir()
    try:
        allowed = round(cores * PERIOD_US)
        if old:
            (group / "cpu.cfs_quota_us").write_text(str(allowed), encoding="ascii")
        else:
            (group / "cpu.max").write_text(f"{allowed} {PERIOD_US}", encoding="ascii")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()  # all who were in it have ended


def entering(procs: Path) -> Callable[[], None]:
    """What a child calls before it becomes another program."""

    def enter() -> None:
        procs.write_text(str(os.getpid()), encoding="ascii")

    return enter
