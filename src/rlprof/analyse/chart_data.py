"""What charts are drawn from: bars and curves, few enough to be seen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

import numpy as np

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.model.comparison import Comparison, PhaseRow
from rlprof.model.phases import COLLECT_CATEGORIES, COLLECT_PHASES, TRAIN_CATEGORIES, TRAIN_PHASES
from rlprof.model.recording import FloatColumn, Recording
from rlprof.model.report import PhaseEntry, Report
from rlprof.model.units import BYTES_PER_MB

MOST_BARS: Final = 9
MOST_POINTS: Final = 400
SMALLEST_SHARE: Final = 0.002

Group = Literal["collecting", "learning", "other"]


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    seconds: float
    share: float
    group: Group


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over the seconds since the run began."""

    t: tuple[float, ...]
    value: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ReportCurves:
    sps: Curve
    rss_mb: Curve
    device_mb: Curve


def share_bars(report: Report) -> list[Bar]:
    """The ledger, largest first: phases, the small ones together, then what is in none of them."""
    wall = report.ledger.wall_seconds
    ranked = sorted(report.phases, key=lambda entry: entry.seconds, reverse=True)
    shown = [entry for entry in ranked[:MOST_BARS] if entry.share >= SMALLEST_SHARE]
    bars = [Bar(entry.phase, entry.seconds, entry.share, _group(entry)) for entry in shown]
    startup = report.ledger.startup_seconds or 0.0
    rest = (
        ("small phases", sum(entry.seconds for entry in ranked if entry not in shown)),
        ("start-up", startup),
        ("unattributed", report.ledger.unattributed_seconds - startup),
        ("rlprof itself", report.ledger.overhead_seconds),
    )
    for name, seconds in rest:
        if wall > 0 and seconds / wall >= SMALLEST_SHARE:
            bars.append(Bar(name, seconds, seconds / wall, "other"))
    return bars


def _group(entry: PhaseEntry) -> Group:
    if entry.category in COLLECT_CATEGORIES or entry.phase in COLLECT_PHASES:
        return "collecting"
    return "learning" if entry.category in TRAIN_CATEGORIES or entry.phase in TRAIN_PHASES else "other"


def report_curves(recording: Recording, report: Report) -> ReportCurves:
    """Speed and memory of the main process, thinned to what a chart can show."""
    recording = outside_windows(recording)
    table = recording.main.memory
    seconds = (table.at_ns - recording.main.start_ns) / NS_PER_SECOND
    known = table.device_bytes >= 0
    windows = report.throughput.windows
    times = np.array([window.t for window in windows], np.float64)
    return ReportCurves(
        sps=_thinned(times, np.array([window.sps for window in windows], np.float64)),
        rss_mb=_highest(seconds, table.rss_bytes / BYTES_PER_MB),
        device_mb=_highest(seconds[known], table.device_bytes[known] / BYTES_PER_MB),
    )


def _thinned(t: FloatColumn, value: FloatColumn) -> Curve:
    """Means of neighbours where there are too many."""
    pieces = np.array_split(np.arange(len(t)), min(len(t), MOST_POINTS) or 1)
    kept = [piece for piece in pieces if len(piece)]
    return Curve(tuple(float(t[piece].mean()) for piece in kept), tuple(float(value[piece].mean()) for piece in kept))


def _highest(t: FloatColumn, value: FloatColumn) -> Curve:
    """The highest of neighbours where there are too many: of memory, peaks are what matters."""
    pieces = np.array_split(np.arange(len(t)), min(len(t), MOST_POINTS) or 1)
    kept = [piece for piece in pieces if len(piece)]
    return Curve(tuple(float(t[piece].mean()) for piece in kept), tuple(float(value[piece].max()) for piece in kept))


def largest_phases(comparison: Comparison, most: int) -> list[PhaseRow]:
    """The phases that take most of the time on either side, largest first."""
    ranked = sorted(comparison.phases, key=lambda row: -max(row.baseline_seconds, row.candidate_seconds))
    return ranked[:most]


def names_apart(comparison: Comparison) -> tuple[str, str]:
    """The names of both sides without the words at their beginning that they share."""
    a, b = comparison.baseline.name.split(), comparison.candidate.name.split()
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))))
    # A value says nothing without what it is the value of: `envs = 8`, `--envs 8`.
    if shared < min(len(a), len(b)) and shared:
        before = a[shared - 1]
        shared = max(shared - (2 if before == "=" else before.startswith("-")), 0)
    return " ".join(a[shared:]), " ".join(b[shared:])
