"""A machine made of numbers on which comparing can be tried thousands of times.

It does what shared machines do to runs that follow each other: every run differs a little, speed drifts, somebody
else's work slows one to three runs in a row, and the very first run is slow because nothing is cached yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlprof.model.recording import FloatColumn


@dataclass(frozen=True, slots=True)
class Noise:
    """How unsteady the machine is. Sizes are shares of a run's time."""

    run: float = 0.018  # two runs side by side then differ by 2.5%
    wander: float = 0.01  # a random walk from run to run
    trend: float = 0.10  # one drift over the whole session, this much on average
    burst_chance: float = 0.02  # that somebody else begins to work, per run
    burst_least: float = 0.05
    burst_most: float = 0.25
    cold_least: float = 0.02  # how much slower the first run of all is
    cold_most: float = 0.15
    felt_least: float = 0.3  # how much of what others use of the machine a run feels
    felt_most: float = 1.0
    load_error: float = 0.01  # of the share that others are seen to use


CALM = Noise(wander=0.0, trend=0.0, burst_chance=0.0, cold_least=0.0, cold_most=0.0)
USUAL = Noise()
BUSY = Noise(burst_chance=0.08)


@dataclass(frozen=True, slots=True)
class Runs:
    """The logarithms of how long the same program takes, run after run, and the share that others were seen to use."""

    log_times: FloatColumn
    loads: FloatColumn


@dataclass(frozen=True, slots=True)
class Pairs:
    """Log ratios of pairs in random order, and by how much others' use differed within each."""

    log_ratios: FloatColumn
    disturbances: FloatColumn


def runs_on(noise: Noise, runs: int, source: np.random.Generator) -> Runs:
    times = source.normal(0.0, noise.run, runs)
    times += np.cumsum(source.normal(0.0, noise.wander, runs))
    times += np.linspace(0.0, source.normal(0.0, noise.trend), runs)
    loads = np.abs(source.normal(0.0, noise.load_error, runs))
    for start in np.nonzero(source.random(runs) < noise.burst_chance)[0]:
        hit = slice(start, start + int(source.integers(1, 4)))
        slower = source.uniform(noise.burst_least, noise.burst_most)
        times[hit] += slower
        loads[hit] += slower / source.uniform(noise.felt_least, noise.felt_most, len(loads[hit]))
    times[0] += source.uniform(noise.cold_least, noise.cold_most)
    return Runs(times, loads)


def watched_pairs(
    noise: Noise, n: int, true_log_ratio: float, source: np.random.Generator, warm_up_runs: int = 1
) -> Pairs:
    """`n` pairs after the warm-up runs, which are not counted."""
    runs = runs_on(noise, 2 * n + warm_up_runs, source)
    times, loads = (column[warm_up_runs:].reshape(n, 2) for column in (runs.log_times, runs.loads))
    swapped = source.random(n) < 0.5
    ratios = np.where(swapped, times[:, 1] - times[:, 0], times[:, 0] - times[:, 1]) + true_log_ratio
    return Pairs(ratios, np.abs(loads[:, 0] - loads[:, 1]))


def pairs(
    noise: Noise, n: int, true_log_ratio: float, source: np.random.Generator, warm_up_runs: int = 1
) -> FloatColumn:
    """The log ratios alone, as where the system does not say what others do."""
    return watched_pairs(noise, n, true_log_ratio, source, warm_up_runs).log_ratios


def family(
    noise: Noise, n: int, true_log_ratios: FloatColumn, shared: float, source: np.random.Generator
) -> FloatColumn:
    """Log ratios of several phases, one row each. What happens to the machine happens to all of them.

    `shared` is the part of a single run's own unsteadiness that its phases have in common.
    """
    common = pairs(noise, n, 0.0, source)
    own = source.normal(0.0, noise.run * np.sqrt(2), (len(true_log_ratios), n))
    mixed = true_log_ratios[:, None] + shared * common[None, :] + np.sqrt(1 - shared**2) * own
    return np.asarray(mixed, dtype=np.float64)
