"""What a rule is: a name, a function that judges a report, and which other findings are only its victims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report

Judge = Callable[[Recording, Report], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`victims` are rules whose findings say no more where this one speaks: what they see is what it causes.

    A finding whose evidence names `phases` makes victims only of those that name one of them, too. `doubted_by` are
    codes of doubts (see advise.trust) that hold the rule's findings back. `relieves` says that the cure takes work from
    the main thread, workers from its cores, or fresh memory from its caches, which are then left to the rest (see
    advise.relief); not so where it only takes a wait away.
    """

    name: str
    judge: Judge
    victims: frozenset[str] = frozenset()
    doubted_by: frozenset[str] = frozenset()
    relieves: bool = True
