"""`cumulative-fps`: the rate that the program logs is one over the whole run, and the run has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.verify import run_again
from rlprof.analyse.logged_rates import CumulativeRate, cumulative_rates
from rlprof.model.clean import clean_text
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Gain, Report
from rlprof.model.units import format_duration, format_rate

RULE: Final = "cumulative-fps"


def cumulative_fps(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks, for information, of the first such rate: others of the same program say the same."""
    rates = cumulative_rates(recording)
    if not rates:
        return
    rate = rates[0]
    tag = clean_text(rate.tag, 60)
    yield Finding(
        rule=RULE,
        severity="info",
        title=f"`{tag}` says {format_rate(rate.last)} at the end, and the run does {format_rate(rate.now)} then",
        evidence=_evidence(rate, tag),
        where=(rate.place,) if rate.place is not None else (),
        gain=Gain(1.0, 1.0, 1.0),
        cure=(
            f"it is all steps by the time since {format_duration(rate.since_seconds)} after the start, so a change "
            "shows late and small. Log a rate over the last iterations instead: steps and `time.perf_counter()` since "
            "it was logged last. The report's rate over time is of that kind"
        ),
        changes_learning=False,
        verify=run_again(report.run.command),
    )


def _evidence(rate: CumulativeRate, tag: str) -> dict[str, object]:
    return {
        "phases": ["log"],
        "tag": tag,
        "values": rate.values,
        "logged_last": rate.last,
        "sps_of_the_last_part": rate.now,
        "counts_from_seconds": rate.since_seconds,
        "counts_from_differs_by_seconds": rate.spread_seconds,
    }
