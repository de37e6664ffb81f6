"""What a faster phase would bring the whole run: Amdahl on the time after start-up, with an interval.

Phases take another part of the time in one window of the run than in the next. The interval is what the ratio would be
had other windows of the same run been recorded: whole windows are drawn again and again, always in the same way. It
says nothing about what nobody measured: a cure that makes another phase slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.analyse.ledger import NS_PER_SECOND, Account, overhead_error_ns
from rlprof.analyse.slices import ROOT, LaneSlices
from rlprof.analyse.startup import Startup
from rlprof.analyse.weights import part_seconds
from rlprof.model.phases import STARTUP, UNATTRIBUTED
from rlprof.model.recording import FloatColumn
from rlprof.model.report import StepSplit, WhatIf, Workers

#: None: the phase were free.
SPEEDUPS: Final[tuple[float | None, ...]] = (1.5, 2.0, 10.0, None)
#: A phase with a smaller part of the time brings less than runs of one program differ by.
SMALLEST_SHARE: Final = 0.01
#: Where nearly all of the time would go away the ratio has no meaning beyond "large".
LARGEST_RATIO: Final = 100.0
#: With fewer windows there is no spread to speak of.
FEWEST_WINDOWS: Final = 5
#: Neighbouring windows resemble each other, so that long runs are drawn in stretches of them.
MOST_STRETCHES: Final = 40
DRAWS: Final = 400
SEED: Final = 20_260_105
LEVEL: Final = 0.95

_STEPPING: Final = ("env.step", "env.wait", "env.ipc")


@dataclass(frozen=True, slots=True)
class _Part:
    """The seconds of a phase that a cure could save: what is likely, and between what."""

    seconds: float
    low: float
    high: float


def whatif_of(
    account: Account, slices: LaneSlices, startup: Startup | None, workers: Workers | None
) -> tuple[WhatIf, ...]:
    """Every phase that matters with every speed-up, the largest phase first."""
    seconds = part_seconds(account, startup)
    seconds.pop(STARTUP)
    whole = sum(seconds.values())
    if whole <= 0:
        return ()
    factors = _spread(slices, startup)
    error = overhead_error_ns(account) / NS_PER_SECOND
    parts = {phase: _part(taken, whole, factors.get(phase), error) for phase, taken in seconds.items()}
    split = _split(workers, account.process.id)
    if split is not None:
        parts.update(_divided(parts, split))
        parts.pop("env.wait", None)
    ranked = sorted(parts.items(), key=lambda item: item[1].seconds, reverse=True)
    return tuple(
        _entry(phase, part, whole, speedup)
        for phase, part in ranked
        if part.seconds >= SMALLEST_SHARE * whole
        for speedup in SPEEDUPS
    )


def _entry(phase: str, part: _Part, whole: float, speedup: float | None) -> WhatIf:
    saved = 1.0 if speedup is None else 1.0 - 1.0 / speedup
    point, low, high = (ratio_of(whole, saved * taken) for taken in (part.seconds, part.low, part.high))
    return WhatIf(phase=phase, speedup=speedup, sps_ratio=point, low=min(low, point), high=max(high, point))


def ratio_of(whole: float, saved: float) -> float:
    """How many times as fast the whole is without the seconds that are saved."""
    if whole <= 0:
        return 1.0
    return whole / max(whole - max(saved, 0.0), whole / LARGEST_RATIO)


def _part(seconds: float, whole: float, factors: tuple[float, float] | None, error: float) -> _Part:
    if factors is None:
        return _Part(seconds, 0.0, seconds)
    low, high = factors
    # What rlprof's own cost may be off by could have been any phase's.
    return _Part(seconds, max(seconds * low - error, 0.0), min(seconds * high + error, whole))


def _spread(slices: LaneSlices, startup: Startup | None) -> Mapping[str, tuple[float, float]]:
    """By how much each phase's share of the time may be lower or higher; empty where windows are too few."""
    times = _after_startup(slices, startup)
    total = np.sum(list(times.values()), axis=0) if times else np.zeros(0)
    used = np.flatnonzero(total > 0)
    if len(used) < FEWEST_WINDOWS:
        return {}
    return {phase: share_spread(own[used], total[used]) for phase, own in times.items() if own[used].sum() > 0}


def share_spread(own: FloatColumn, total: FloatColumn) -> tuple[float, float]:
    """By which factors a part's share of the total may be lower or higher, from how it differs between windows."""
    stretches = np.array_split(np.arange(len(own)), min(len(own), MOST_STRETCHES))
    parts, wholes = (np.array([column[rows].sum() for rows in stretches]) for column in (own, total))
    even = np.full(len(stretches), 1 / len(stretches))
    drawn = np.random.default_rng(SEED).multinomial(len(stretches), even, DRAWS)
    # Not `@`: a fork while another thread is inside a matrix product would hang the child.
    shares = (drawn * parts).sum(axis=1) / (drawn * wholes).sum(axis=1)
    low, high = np.quantile(shares, ((1 - LEVEL) / 2, (1 + LEVEL) / 2)) * wholes.sum() / parts.sum()
    return float(low), float(high)


def _after_startup(slices: LaneSlices, startup: Startup | None) -> dict[str, FloatColumn]:
    """The time of each phase by window, the unattributed time without start-up."""
    times = {phase: own for phase, own in slices.own_ns.items() if phase != ROOT}
    if startup is not None and UNATTRIBUTED in times:
        times[UNATTRIBUTED] = np.maximum(times[UNATTRIBUTED] - startup.share * slices.of(ROOT), 0.0)
    return times


def _split(workers: Workers | None, process: int) -> StepSplit | None:
    """What the steps of all vector environments with workers consisted of, in this process."""
    found = [entry.split for entry in (workers.vector_envs if workers is not None else ()) if entry.process == process]
    known = [split for split in found if split is not None]
    if not known or len(known) < len(found):
        return None
    errors = [split.error_seconds for split in known]
    return StepSplit(
        simulator_seconds=sum(split.simulator_seconds for split in known),
        straggler_seconds=sum(split.straggler_seconds for split in known),
        staggered_seconds=sum(split.staggered_seconds for split in known),
        interprocess_seconds=sum(split.interprocess_seconds for split in known),
        error_seconds=None if None in errors else sum(error for error in errors if error is not None),
    )


def _divided(parts: Mapping[str, _Part], split: StepSplit) -> dict[str, _Part]:
    """The parent's steps as the simulator and the rest: nobody can speed up waiting by itself.

    A faster simulator in the workers shortens the parent's step by what the mean worker and the slowest one took in it.
    That simulators ran one after the other may vanish with them or not: it counts only for the upper end.
    """
    stepping = [part for phase, part in parts.items() if phase in _STEPPING]
    whole, least, most = (sum(getattr(part, name) for part in stepping) for name in ("seconds", "low", "high"))
    if whole <= 0:
        return {}
    simulator = min(split.simulator_seconds + split.straggler_seconds, whole)
    reach = min(simulator + split.staggered_seconds, whole)
    off = split.error_seconds if split.error_seconds is not None else whole
    between = whole - reach
    return {
        "env.step": _scaled(simulator, simulator - off, reach + off, least / whole, most / whole),
        "env.ipc": _scaled(between, between - off, whole - simulator + off, least / whole, most / whole),
    }


def _scaled(seconds: float, low: float, high: float, lower: float, higher: float) -> _Part:
    """With what steps as a whole may differ by, too."""
    return _Part(seconds, max(low, 0.0) * lower, max(high, seconds) * higher)
