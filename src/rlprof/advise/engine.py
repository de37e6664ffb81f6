"""Asks every rule and puts the findings in the order in which they are worth acting on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rlprof.advise.rules.unattributed_high import unattributed_high
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report

Rule = Callable[[Recording, Report], Iterable[Finding]]

RULES: Final[tuple[Rule, ...]] = (unattributed_high,)


def advise(recording: Recording, report: Report) -> tuple[Finding, ...]:
    """The findings of all rules, the largest possible gain first; equal gains stay in the order of the rules."""
    findings = [finding for rule in RULES for finding in rule(recording, report)]
    return tuple(sorted(findings, key=lambda finding: finding.gain.sps_ratio, reverse=True))
