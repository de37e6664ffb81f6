"""Asks every rule and puts the findings in the order in which they are worth acting on."""

from __future__ import annotations

from typing import Final

from rlprof.advise.rule import Rule
from rlprof.advise.rules.serial_env_idle_cores import serial_env_idle_cores
from rlprof.advise.rules.straggler import straggler
from rlprof.advise.rules.thread_oversubscription import thread_oversubscription
from rlprof.advise.rules.unattributed_high import unattributed_high
from rlprof.advise.rules.vecenv_ipc import vecenv_ipc
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report

#: The more special a rule is the further up: of two that point to one line, the first is kept.
RULES: Final[tuple[Rule, ...]] = (
    # Workers and the machine
    Rule(
        "thread-oversubscription",
        thread_oversubscription,
        victims=frozenset({"straggler", "vecenv-ipc"}),
    ),
    Rule("straggler", straggler),
    Rule("vecenv-ipc", vecenv_ipc),
    Rule("serial-env-idle-cores", serial_env_idle_cores),
    # What has no name yet
    Rule("unattributed-high", unattributed_high),
)


def advise(recording: Recording, report: Report, rules: tuple[Rule, ...] = RULES) -> tuple[Finding, ...]:
    """The findings of all rules, the largest possible gain first; equal gains stay in the order of the rules."""
    found = [(rule, finding) for rule in rules for finding in rule.judge(recording, report)]
    causes = [finding for rule, finding in found if not any(_is_victim(finding, other, by) for other, by in found)]
    return tuple(sorted(_one_each(causes), key=_rank))


def _is_victim(finding: Finding, rule: Rule, cause: Finding) -> bool:
    if finding.rule not in rule.victims:
        return False
    mine, theirs = set(finding.evidence.get("phases", ())), set(cause.evidence.get("phases", ()))
    return not mine or not theirs or bool(mine & theirs)


def _one_each(findings: list[Finding]) -> list[Finding]:
    """At most one finding for each line that is named first."""
    seen: set[tuple[str, int]] = set()
    kept = []
    for finding in findings:
        place = (finding.where[0].file, finding.where[0].line) if finding.where else None
        if place is None or place not in seen:
            kept.append(finding)
        if place is not None:
            seen.add(place)
    return kept


def _rank(finding: Finding) -> tuple[bool, float]:
    """What is only said for information comes last, whatever it could bring."""
    return finding.severity == "info", -finding.gain.high
