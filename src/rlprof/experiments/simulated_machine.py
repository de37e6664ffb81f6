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


CALM = Noise(wander=0.0, trend=0.0, burst_chance=0.0, cold_least=0.0, cold_most=0.0)
USUAL = Noise()
BUSY = Noise(burst_chance=0.08)


def log_times(noise: Noise, runs: int, source: np.random.Generator) -> FloatColumn:
    """The logarithms of how long the same program takes, run after run."""
    times = source.normal(0.0, noise.run, runs)
    times += np.cumsum(source.normal(0.0, noise.wander, runs))
    times += np.linspace(0.0, source.normal(0.0, noise.trend), runs)
    for start in np.nonzero(source.random(runs) < noise.burst_chance)[0]:
        times[start : start + int(source.integers(1, 4))] += source.uniform(noise.burst_least, noise.burst_most)
    times[0] += source.uniform(noise.cold_least, noise.cold_most)
    return times


def pairs(
    noise: Noise, n: int, true_log_ratio: float, source: np.random.Generator, warm_up_runs: int = 1
) -> FloatColumn:
    """Log ratios of `n` pairs in random order, after the warm-up runs that are not counted."""
    times = log_times(noise, 2 * n + warm_up_runs, source)[warm_up_runs:].reshape(n, 2)
    swapped = source.random(n) < 0.5
    return np.where(swapped, times[:, 1] - times[:, 0], times[:, 0] - times[:, 1]) + true_log_ratio


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
