"""What this process has used of the machine's cores so far, and what all processes together have.

Noted at the start and again now and then: the difference is the run's. Nothing here may fail.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any, Final

from rlprof.record.control_groups import throttling
from rlprof.record.core_wait import core_wait_ns, main_run_ns

_TASKS: Final = Path("/proc/self/task")
#: More threads than this are not looked at one by one: each is a file to read.
MOST_THREADS: Final = 128
#: Threads of rlprof's own: in a worker that does little they would be a good part of what runs.
_OWN_NAMES: Final = "rlprof-"
#: A thread that ran for at least this part of what the busiest one ran takes part in the work.
AT_WORK: Final = 0.1
#: Columns of /proc/stat in which a core does something for somebody: user, nice, system, irq, softirq, steal.
_BUSY_COLUMNS: Final = (1, 2, 3, 6, 7, 8)


def core_use() -> dict[str, Any]:
    """Since each of them began: the process, its main thread, the machine. What the system will not say is None."""
    run_ns = _runs_of_threads()
    held_up = throttling()
    return {
        "at_ns": time.monotonic_ns(),
        "cpu_seconds": _attempt(time.process_time),
        "system_seconds": _attempt(lambda: os.times().system),
        "core_wait_ns": core_wait_ns(),
        "main_run_ns": main_run_ns(),
        "machine_busy_seconds": _attempt(_machine_busy_seconds),
        "throttled_periods": held_up[0] if held_up is not None else None,
        "throttled_seconds": held_up[1] if held_up is not None else None,
        "threads": len(run_ns) or None,
        "threads_at_work": sum(ran >= AT_WORK * max(run_ns) for ran in run_ns) if any(run_ns) else None,
    }


def _attempt(ask: Any) -> Any:
    try:
        return ask()
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _runs_of_threads() -> list[int]:
    """How long each living thread of the program was on a core, as the kernel counts it."""
    runs = []
    ours = {str(thread.native_id) for thread in threading.enumerate() if thread.name.startswith(_OWN_NAMES)}
    try:
        for task in [task for task in sorted(os.listdir(_TASKS)) if task not in ours][:MOST_THREADS]:
            ran = _attempt(lambda task=task: int((_TASKS / task / "schedstat").read_bytes().split()[0]))
            if ran is not None:
                runs.append(ran)
    except OSError:
        pass
    return runs


def _machine_busy_seconds() -> float:
    """Over the cores that this process may use, whoever kept them busy."""
    usable = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    ticks = 0
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields and fields[0] in usable:
            ticks += sum(int(fields[column]) for column in _BUSY_COLUMNS)
    return ticks / os.sysconf("SC_CLK_TCK")
