"""How fast the run was: env steps per second, overall, over time, and once it was warm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.grid import Slices, spread
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.model.recording import FloatColumn, IntColumn, Process, Recording
from rlprof.model.report import SpsWindow, Throughput

ENV_STEPS: Final = "env_steps"
EPISODES: Final = "episodes"
UPDATES: Final = "updates"

MOST_WINDOWS: Final = 3600
WARM_UP_SHARE: Final = 0.10
FEWEST_STEADY: Final = 5
#: Iterations at least this long are the better window: shorter slices of them would see only part of the cycle.
LONG_ITERATION_SECONDS: Final = 0.5
#: Steps that come in bursts leave windows empty. Windows are widened until at most this share of them is.
EMPTY_TOLERATED: Final = 0.10
#: A bound on the work for a recording that claims to be absurdly long (0.3 years of 1 s windows).
MOST_CELLS: Final = 10_000_000


def throughput_of(recording: Recording, wall_seconds: float) -> Throughput:
    """How fast the run was; `wall_seconds` is that of the main process."""
    env_steps = counter_total(recording, ENV_STEPS)
    updates = counter_total(recording, UPDATES)
    turning = iterating_process(recording)
    slices = counter_slices(recording, ENV_STEPS)
    start, end = recording.main.start_ns, run_end_ns(recording)
    return Throughput(
        env_steps=env_steps,
        episodes=counter_total(recording, EPISODES),
        iterations=len(turning.iterations.start_ns) if turning is not None else None,
        updates=updates,
        sps=env_steps / wall_seconds if env_steps is not None and wall_seconds > 0 else None,
        sps_steady=steady_rate(slices, end, turning) if env_steps else None,
        updates_per_env_step=updates / env_steps if updates is not None and env_steps else None,
        windows=rate_windows(slices, start, end) if env_steps else (),
    )


def counting_processes(recording: Recording, name: str) -> tuple[Process, ...]:
    """Whose counts make the run's figure: the main process's where it counts, else everybody's.

    A trainer that counts the steps of its workers, and workers that count their own, speak of the same steps.
    """
    if name in recording.main.counters:
        return (recording.main,)
    return tuple(process for process in recording.processes if name in process.counters)


def counter_total(recording: Recording, name: str) -> float | None:
    """A counter's figure for the run; None where nobody counted it."""
    amounts = [process.counters[name].amount for process in counting_processes(recording, name)]
    return float(sum(amounts)) if amounts else None


def counter_slices(recording: Recording, name: str) -> Slices:
    """A counter's changes over time."""
    starts: list[IntColumn] = []
    ends: list[IntColumn] = []
    amounts: list[FloatColumn] = []
    for process in counting_processes(recording, name):
        table = process.counter_windows
        rows = (table.counter == process.counter_names.index(name)) & (table.amount > 0)
        starts.append(table.start_ns[rows])
        ends.append(table.end_ns[rows])
        amounts.append(table.amount[rows])
    if not starts:
        return Slices(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))
    return Slices(np.concatenate(starts), np.concatenate(ends), np.concatenate(amounts))


def iterating_process(recording: Recording) -> Process | None:
    """The process whose loop turns the iterations: the main one where it has any."""
    return next((process for process in recording.processes if len(process.iterations.start_ns)), None)


def run_end_ns(recording: Recording) -> int:
    """The main process's last moment: what children did later has no wall clock to be held against."""
    return recording.main.end_ns


def rate_windows(slices: Slices, start_ns: int, end_ns: int) -> tuple[SpsWindow, ...]:
    """The rate on a grid of 1 s since the start of the run, coarser for runs longer than an hour."""
    seconds = (end_ns - start_ns) / NS_PER_SECOND
    if seconds <= 0:
        return ()
    cell = max(1, int(np.ceil(seconds / MOST_WINDOWS))) * int(NS_PER_SECOND)
    amounts, edges = spread(slices, start_ns, end_ns, cell)
    rates = amounts * NS_PER_SECOND / np.diff(edges)
    offsets = (edges[:-1] - start_ns) / NS_PER_SECOND
    return tuple(SpsWindow(t, sps) for t, sps in zip(offsets.tolist(), rates.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Steady:
    """The stretch of a run after start-up and warm-up."""

    start_ns: int
    end_ns: int


def steady_rate(slices: Slices, end_ns: int, turning: Process | None) -> float | None:
    """The median rate once start-up and the first tenth are over; None where too little is left to say."""
    if not len(slices.start_ns):
        return None
    first = int(slices.start_ns.min())
    steady = _Steady(first + int(WARM_UP_SHARE * max(end_ns - first, 0)), end_ns)
    by_iteration = _rate_by_iteration(turning, steady) if turning is not None else None
    return by_iteration if by_iteration is not None else _rate_by_window(slices, steady)


def _rate_by_iteration(turning: Process, steady: _Steady) -> float | None:
    table = turning.iterations
    rows = (table.start_ns >= steady.start_ns) & (table.duration_ns > 0)
    durations, steps = table.duration_ns[rows], table.env_steps[rows]
    if len(durations) < FEWEST_STEADY or float(steps.sum()) <= 0:
        return None
    if float(np.median(durations)) < LONG_ITERATION_SECONDS * NS_PER_SECOND:
        return None
    return float(np.median(steps * NS_PER_SECOND / durations))


def _rate_by_window(slices: Slices, steady: _Steady) -> float | None:
    cell = int(NS_PER_SECOND)
    while (steady.end_ns - steady.start_ns) // cell > MOST_CELLS:
        cell *= 2
    while (steady.end_ns - steady.start_ns) // cell >= FEWEST_STEADY:
        amounts, edges = spread(slices, steady.start_ns, steady.end_ns, cell)
        if float(np.mean(amounts <= 0)) <= EMPTY_TOLERATED:
            return float(np.median(amounts * NS_PER_SECOND / np.diff(edges)))
        cell *= 2
    return None
