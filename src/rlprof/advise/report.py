"""The whole report: numbers, then findings on top of them."""

from __future__ import annotations

import dataclasses

from rlprof.advise.engine import RULES, advise
from rlprof.advise.relief import with_relief
from rlprof.advise.trust import doubts_about, hold_back
from rlprof.advise.verdict import verdict_of
from rlprof.analyse.apart import outside_windows
from rlprof.analyse.report import build_report
from rlprof.model.recording import Recording
from rlprof.model.report import Report


def complete_report(recording: Recording) -> Report:
    """Everything rlprof can say about one recording."""
    recording = outside_windows(recording)  # once: what the passes share is known by the recording itself
    report = build_report(recording)
    doubts = doubts_about(recording, report)
    findings, held = hold_back(advise(recording, report), doubts, report, RULES)
    findings = with_relief(findings, frozenset(rule.name for rule in RULES if rule.relieves))
    warnings = (*report.warnings, *doubts, *held)
    return dataclasses.replace(report, findings=findings, warnings=warnings, verdict=verdict_of(report, findings))
