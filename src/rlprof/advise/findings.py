"""How a rule that knows what a cure could save makes its finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rlprof.advise.bounds import gain_of_saving, severity_of
from rlprof.advise.verify import run_again
from rlprof.model.report import Finding, Place, Report, Severity

_ORDER: Final[tuple[Severity, ...]] = ("info", "warning", "critical")


@dataclass(frozen=True, slots=True)
class Saving:
    """Seconds of the main thread that a cure may save, at least and at most."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Claim:
    """What a rule has to say. How loud it is follows from the saving; `at_most` keeps it down where there is doubt."""

    rule: str
    title: str
    saving: Saving
    where: tuple[Place, ...]
    cure: str
    evidence: Mapping[str, Any]
    changes_learning: bool = False
    at_most: Severity = "critical"

    def findings(self, report: Report) -> Iterator[Finding]:
        """The finding; none where what can be gained is not worth saying."""
        gain = gain_of_saving(report, self.saving.least, self.saving.most)
        severity = severity_of(gain)
        if severity is None:
            return
        yield Finding(
            rule=self.rule,
            severity=min(severity, self.at_most, key=_ORDER.index),
            title=self.title,
            evidence=self.evidence,
            where=self.where,
            gain=gain,
            cure=self.cure,
            changes_learning=self.changes_learning,
            verify=run_again(report.run.command),
        )
