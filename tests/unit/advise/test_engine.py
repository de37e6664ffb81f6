"""Findings that are the same in other words are said once."""

from __future__ import annotations

from rlprof.advise.engine import advise
from rlprof.advise.rule import Rule
from rlprof.analyse.report import build_report
from rlprof.model.report import Finding, Gain, Place
from support.recordings import a_recording, span


def a_finding(rule: str, *phases: str, line: int = 17, gain: float = 2.0) -> Finding:
    evidence = {"phases": list(phases)} if phases else {}
    where = (Place("/home/ann/train.py", line, "main"),)
    return Finding(rule, "warning", rule, evidence, where, Gain(gain, 1.0, gain), "cure", False, "verify")


def said(*findings: Finding, victims: frozenset[str] = frozenset()) -> list[str]:
    recording = a_recording().spans(span("env.step", self_seconds=1.0)).build()
    rules = tuple(
        Rule(one.rule, lambda *_, one=one: [one], victims - {one.rule})  # type: ignore[misc]
        for one in findings
    )
    return [finding.rule for finding in advise(recording, build_report(recording), rules)]


def test_of_two_about_one_line_and_phase_the_first_rule_is_kept() -> None:
    assert said(a_finding("a", "log"), a_finding("b", "log", "gc", gain=3.0)) == ["a"]


def test_a_line_that_starts_a_librarys_loop_may_have_several_causes() -> None:
    assert said(a_finding("a", "log"), a_finding("b", "evaluate", gain=3.0)) == ["b", "a"]


def test_a_finding_that_names_no_phase_may_be_about_any() -> None:
    assert said(a_finding("a", "log"), a_finding("b", gain=3.0)) == ["a"]


def test_victims_are_those_of_a_common_phase() -> None:
    victims = frozenset({"b"})
    assert said(a_finding("a", "log"), a_finding("b", "log", line=3), victims=victims) == ["a"]
    assert said(a_finding("a", "log"), a_finding("b", "gc", line=3), victims=victims) == ["a", "b"]
