"""What a cure can bring at most, end to end: Amdahl on the time after start-up. And how loudly that may be said."""

from __future__ import annotations

from typing import Final

from rlprof.advise.lines import is_import, part_named
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.report import Gain, Report, Severity

#: Where nearly all of the time would go away the bound has no meaning beyond "large".
LARGEST_RATIO: Final = 100.0
CRITICAL: Final = 1.5
WARNING: Final = 1.1
#: A bound below this is not worth a line: runs of one program differ by as much.
SMALLEST: Final = 1.03


def training_seconds(report: Report) -> float:
    """The wall clock of the main process without its start-up: what steps per second are counted over."""
    before = (report.ledger.startup_seconds or 0.0) + (report.ledger.setup_seconds or 0.0)
    return max(report.ledger.wall_seconds - before - late_imports(report), 0.0)


def late_imports(report: Report) -> float:
    """Modules that are loaded when first needed, as torch does with its compiler: they are start-up all the same."""
    part = part_named(report, UNATTRIBUTED)
    return sum(line.seconds for line in part.lines if is_import(line)) if part is not None else 0.0


def gain_if_free(report: Report, seconds: float) -> Gain:
    """If `seconds` of the main thread's time took none at all."""
    return gain_of_saving(report, 0.0, seconds)


def gain_of_saving(report: Report, least: float, most: float) -> Gain:
    """If a cure saves between `least` and `most` seconds of the main thread's time."""
    bare = _without_overhead(report, training_seconds(report))
    low, high = (_ratio(bare, seconds) for seconds in (least, most))
    return Gain(sps_ratio=high, low=low, high=high)


def most_saved(report: Report, gain: Gain) -> float:
    """The seconds of the main thread's time that a bound stands for."""
    return _without_overhead(report, training_seconds(report)) * (1.0 - 1.0 / max(gain.high, 1.0))


def _without_overhead(report: Report, training: float) -> float:
    """rlprof's own cost is nothing that the program would have without it; it is spread over the run evenly."""
    wall = report.ledger.wall_seconds
    return training * (1.0 - min(report.ledger.overhead_seconds / wall, 1.0)) if wall > 0 else training


def _ratio(training: float, saved: float) -> float:
    if training <= 0:
        return 1.0
    left = training - min(max(saved, 0.0), training)
    return min(training / max(left, training / LARGEST_RATIO), LARGEST_RATIO)


def severity_of(gain: Gain) -> Severity | None:
    """None where the most that can be gained is not worth saying."""
    if gain.high >= CRITICAL:
        return "critical"
    if gain.high >= WARNING:
        return "warning"
    return "info" if gain.high >= SMALLEST else None
