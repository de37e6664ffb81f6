"""`below-expectation`: the run has less than half the speed that a table expects of such a program on such hardware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import LARGEST_RATIO, severity_of
from rlprof.advise.culprit import culprit_of
from rlprof.advise.verify import run_again
from rlprof.analyse.expectations import FLAGGED_BELOW, PhaseSpeed, speeds_of
from rlprof.analyse.published_speeds import VERSION
from rlprof.model.clean import clean_text
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Place, Report
from rlprof.model.units import format_percent, format_rate

RULE: Final = "below-expectation"
#: It explains no phase: a rule that does, and names the same line, is not left out for it, nor it for that.
WHOLE_RUN: Final = "whole run"


def below_expectation(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where a row of the table is about this run and its speed is far below it. No row, no finding."""
    for speed in speeds_of(recording, report):
        row = speed.expected
        if not speed.flagged or row is None or not speed.sps:
            continue
        gain = Gain(1.0, 1.0, min(row.high / speed.sps, LARGEST_RATIO))
        severity = severity_of(gain)
        if severity is None:
            continue
        yield Finding(
            rule=RULE,
            severity=severity,
            title=_title(speed),
            evidence={
                "phases": [WHOLE_RUN],
                "sps": speed.sps,
                "expected_low": row.low,
                "expected_high": row.high,
                "share_of_low": speed.share,
                "row": row.to_plain(),
                "hardware": speed.device,
                "published_rows_version": VERSION,
            },
            where=_most_time(report),
            gain=gain,
            cure=_cure(speed),
            changes_learning=False,
            verify=run_again(report.run.command),
        )


def _title(speed: PhaseSpeed) -> str:
    assert speed.expected is not None
    about = f" in {clean_text(speed.phase, 40)}" if speed.phase else ""
    wanted = f"{speed.expected.low:,.0f} to {speed.expected.high:,.0f}"
    return (
        f"{format_rate(speed.sps)}{about} where {wanted} are expected: {format_percent(speed.share or 0.0)} of the "
        f"least, below {FLAGGED_BELOW:.0%}"
    )


def _most_time(report: Report) -> tuple[Place, ...]:
    """The user's line with most of the time after start-up: where to begin to look, not what is to blame."""
    found = culprit_of(report, {part.part for part in report.drilldown or () if part.part != "startup"})
    return (Place(found.file, found.line, found.function),) if found is not None else ()


def _cure(speed: PhaseSpeed) -> str:
    assert speed.expected is not None
    source = f" The row is from: {clean_text(speed.expected.source, 200)}." if speed.expected.source else ""
    return (
        "look for a mistake of configuration first: a debug or real-time mode that is left on, the wrong device, one "
        "environment where there should be many, a build without optimisation, a machine that others use, too. Then "
        f"see what the other findings say.{source}"
    )
