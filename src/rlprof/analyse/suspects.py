"""Functions that somebody suspects: what they cost for each env step, by stack samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rlprof.model.phases import STARTUP
from rlprof.model.report import LineEntry, Report


@dataclass(frozen=True, slots=True)
class Suspicion:
    name: str
    functions: tuple[str, ...]
    cure: str  # what would undo it


@dataclass(frozen=True, slots=True)
class Suspect:
    suspicion: Suspicion
    line: LineEntry  # the one of its lines that takes most
    seconds: float  # of all lines of its functions
    share: float  # of the time after start-up
    seconds_per_env_step: float | None

    @property
    def bound(self) -> float | None:
        """How many times as fast the program were if this took no time; None where there is nothing else."""
        return 1.0 / (1.0 - self.share) if self.share < 1.0 else None


def suspects_of(report: Report, suspicions: Iterable[Suspicion]) -> tuple[Suspect, ...]:
    """Those that were seen, the most costly first."""
    found = [suspect for suspicion in suspicions for suspect in _suspects(report, suspicion)]
    return tuple(sorted(found, key=lambda suspect: suspect.seconds, reverse=True))


def _suspects(report: Report, suspicion: Suspicion) -> Iterator[Suspect]:
    parts = [part for part in report.drilldown or () if part.part != STARTUP]
    lines = [line for part in parts for line in part.lines if line.own and line.function in suspicion.functions]
    whole, steps = report.ledger.wall_seconds - (report.ledger.startup_seconds or 0.0), report.throughput.env_steps
    if lines and whole > 0:
        seconds = sum(line.seconds for line in lines)
        most = max(lines, key=lambda line: line.seconds)
        yield Suspect(suspicion, most, seconds, min(seconds / whole, 1.0), seconds / steps if steps else None)
