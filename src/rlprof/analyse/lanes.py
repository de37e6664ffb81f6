"""What every process did in the course of the run: computed, moved data, waited for others, had nothing to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.grid import Slices, spread
from rlprof.analyse.ledger import NS_PER_SECOND, open_account
from rlprof.analyse.phase_course import cell_ns_of
from rlprof.analyse.slices import LaneSlices, lane_slices
from rlprof.analyse.throughput import run_end_ns
from rlprof.model.phases import UNATTRIBUTED, category_of
from rlprof.model.recording import FloatColumn, Process, Recording

COMPUTE: Final = "compute"
IPC: Final = "IPC"
WAIT: Final = "wait"
IDLE: Final = "idle"
UNNAMED: Final = "no span"
STATES: Final = (COMPUTE, IPC, WAIT, IDLE, UNNAMED)
#: More processes than this are not told apart by eye.
MOST_LANES: Final = 64

_WAITING: Final = frozenset({"env.wait"})


@dataclass(frozen=True, slots=True)
class Lane:
    """One process. `shares` are of each cell, by state; cells outside of its life have none."""

    process: int
    pid: int
    role: str
    shares: Mapping[str, tuple[float, ...]]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Lanes:
    edges_s: tuple[float, ...]
    lanes: tuple[Lane, ...]
    left_out: int  # processes that are not shown


def lanes_of(recording: Recording) -> Lanes | None:
    """The processes in their order, on one grid of time; None where the run was too short for one."""
    start, end = recording.main.start_ns, run_end_ns(recording)
    cell = cell_ns_of(start, end)
    if end - start < 2 * cell:
        return None
    shown = recording.processes[:MOST_LANES]
    moment, nothing = np.empty(0, np.int64), np.empty(0, np.float64)
    _, edges = spread(Slices(moment, moment, nothing), start, end, cell)
    lanes = tuple(_lane(process, start, end, cell) for process in shown)
    return Lanes(tuple(((edges - start) / NS_PER_SECOND).tolist()), lanes, len(recording.processes) - len(shown))


def _lane(process: Process, start: int, end: int, cell: int) -> Lane:
    slices = lane_slices(open_account(process))
    sums = _by_state(slices, is_worker="vector_worker" in process.facts)
    shares: dict[str, tuple[float, ...]] = {}
    for state, own in sums.items():
        amounts, edges = spread(Slices(slices.start_ns, slices.end_ns, own), start, end, cell)
        shares[state] = tuple(np.clip(amounts / np.diff(edges), 0.0, 1.0).tolist())
    seconds = {state: float(own.sum()) / NS_PER_SECOND for state, own in sums.items()}
    return Lane(process.id, process.pid, process.role, shares, seconds)


def _by_state(slices: LaneSlices, *, is_worker: bool) -> dict[str, FloatColumn]:
    sums: dict[str, FloatColumn] = {}
    for part, own in slices.own_ns.items():
        if part and float(own.sum()) > 0:
            state = state_of(part, is_worker=is_worker)
            sums[state] = sums[state] + own if state in sums else own
    return {state: sums[state] for state in STATES if state in sums}


def state_of(part: str, *, is_worker: bool) -> str:
    """A worker outside of its spans waits for the next command: it is idle. Others run code that nobody named."""
    if part == UNATTRIBUTED:
        return IDLE if is_worker else UNNAMED
    if part in _WAITING:
        return WAIT
    return IPC if category_of(part) == "communication" else COMPUTE
