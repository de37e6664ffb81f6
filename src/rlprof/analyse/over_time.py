"""What the recording says about each slice of time, as flat rows: by path, and for the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND, open_account
from rlprof.analyse.slices import lane_slices
from rlprof.analyse.throughput import ENV_STEPS, counter_slices
from rlprof.analyse.tree import names_of
from rlprof.model.recording import Recording


class PathRow(NamedTuple):
    """One path in one slice of time. Seconds since the run's start; times as the clock said, rlprof's cost in them."""

    start_s: float
    end_s: float
    process: int
    role: str
    thread: str
    path: str
    phase: str
    calls: int
    total_seconds: float
    self_seconds: float


def path_rows(recording: Recording) -> Iterator[PathRow]:
    """All rows of all processes, process by process in the order of time."""
    zero = recording.main.start_ns
    for process in recording.processes:
        account = open_account(process)
        threads = {thread.id: thread.name for thread in process.threads}
        names = {path: " / ".join(chain) for path, chain in names_of(process, account.tree).items()}
        table = process.windows
        columns = (table.start_ns, table.end_ns, table.path, table.count, table.total_ns, table.self_ns)
        for start, end, path, count, total, own in zip(*(column.tolist() for column in columns), strict=True):
            if path in names:
                yield PathRow(
                    (start - zero) / NS_PER_SECOND, (end - zero) / NS_PER_SECOND, process.id, process.role,
                    threads.get(process.paths[path].thread, ""), names[path], account.phases[path], count,
                    total / NS_PER_SECOND, own / NS_PER_SECOND,
                )  # fmt: skip


class Moment(NamedTuple):
    """The main process in one slice of time."""

    end_s: float
    env_steps: float  # since the start
    sps: float | None  # None where env steps are not counted
    shares: dict[str, float]  # of the slice, by phase; what is unattributed among them


def moments(recording: Recording) -> Iterator[Moment]:
    """The slices of the main process in the order of time."""
    process = recording.main
    slices = lane_slices(open_account(process))
    steps = _env_steps(recording, slices.end_ns)
    before = 0.0
    for row in range(len(slices)):
        length = int(slices.end_ns[row]) - int(slices.start_ns[row])
        if length <= 0:
            continue
        now = float(steps[row])
        shares = {part: float(own[row]) / length for part, own in slices.own_ns.items() if part and own[row] > 0}
        rate = (now - before) / (length / NS_PER_SECOND) if steps[-1] > 0 else None
        yield Moment((int(slices.end_ns[row]) - process.start_ns) / NS_PER_SECOND, now, rate, shares)
        before = now


def _env_steps(recording: Recording, ends: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[float]:
    """The run's env steps since the start, at each of these moments; workers' where the main process counts none."""
    if not len(ends):
        return []
    counted = counter_slices(recording, ENV_STEPS)
    found = np.searchsorted(ends, counted.end_ns)
    amounts = np.bincount(np.minimum(found, len(ends) - 1), counted.amount, len(ends))
    return [float(value) for value in np.cumsum(amounts)]
