"""How many processes of a run share the cores of this machine, and how much more seldom each of them is looked at.

A flush and a sample take little, but each process has them at a steady rate: two hundred workers on two cores would
spend more on them than on the program. So where there are many to a core, all but the main process take turns that are
as much longer. What the machine spends on them is then the same for any number of workers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rlprof.record.facts import usable_cores

#: So many processes to a core are written and sampled at the full rate.
FREELY_PER_CORE: Final = 4
#: A worker that is killed costs what came after its last flush, so there is an end to it.
MOST_TIMES_SLOWER: Final = 32

_WRITING: Final = "-wal"  # what SQLite keeps beside a file for as long as somebody writes it


def times_slower(part: Path | None) -> int:
    """A power of two, so that it does not change with every worker that begins or ends. 1: nobody is in the way."""
    return _times(processes_beside(part), usable_cores() or 1)


def processes_beside(part: Path | None) -> int:
    """Processes that write a part of the same run now, this one among them."""
    if part is None:
        return 1
    try:
        return sum(name.endswith(_WRITING) for name in os.listdir(part.parent))
    except OSError:
        return 1


def _times(processes: int, cores: int) -> int:
    times = 1
    while times < MOST_TIMES_SLOWER and times * FREELY_PER_CORE * cores < processes:
        times *= 2
    return times
