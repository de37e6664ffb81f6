"""`phase-change`: the run got slower because it does something else now. No fault: look at each regime by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.verify import run_again
from rlprof.analyse.course import course_of
from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.regimes import Stretch, stretches_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import format_duration, format_rate

RULE: Final = "phase-change"
#: Changes that are what a program is meant to do. Those of a part or of the machine are not.
MEANT: Final = frozenset({"learning", "evaluation", "episodes"})


def phase_change(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks for a change of speed that coincides with the first update, evaluation or other episodes."""
    windows = course_of(recording).windows
    if windows is None:
        return
    before: Stretch | None = None
    for stretch in stretches_of(windows):
        if before is not None and stretch.change is not None and stretch.change.kind in MEANT:
            yield _finding(before, stretch, (stretch.start_ns - recording.main.start_ns) / NS_PER_SECOND, report)
        before = stretch


def _finding(before: Stretch, stretch: Stretch, at: float, report: Report) -> Finding:
    assert stretch.change is not None
    rates = format_rate(before.level.sps), format_rate(stretch.level.sps)
    return Finding(
        rule=RULE,
        severity="info",
        title=f"from {format_duration(at)} on {rates[1]} instead of {rates[0]}: {stretch.change.text}",
        evidence={
            "phases": [stretch.change.part],
            "at_seconds": at,
            "kind": stretch.change.kind,
            "sps_before": before.level.sps,
            "sps_after": stretch.level.sps,
            "seconds_per_env_step_before": before.level.seconds.get(stretch.change.part),
            "seconds_per_env_step_after": stretch.level.seconds.get(stretch.change.part),
        },
        where=(),
        gain=Gain(1.0, 1.0, 1.0),
        cure=(
            "none needed: the program does other work from there on. Compare speeds within a regime, and never by a "
            f"rate over the whole run; a longer run goes on at about {rates[1]}"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )
