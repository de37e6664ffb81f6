"""The whole report: numbers, then findings on top of them."""

from __future__ import annotations

import dataclasses

from rlprof.advise.engine import advise
from rlprof.advise.verdict import verdict_of
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from rlprof.model.report import Report


def complete_report(recording: Recording) -> Report:
    """Everything rlprof can say about one recording."""
    report = build_report(recording)
    return dataclasses.replace(report, findings=advise(recording, report), verdict=verdict_of(report))
