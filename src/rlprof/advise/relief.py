"""What a cure brings beyond the time that it saves.

Work that is taken away no longer drives the data and the code of everything else out of the caches, nor fills the
memory that the allocator and the collector look through. What is left then runs faster than it did beside it, so that
Amdahl's ratio, which takes the rest to stay as it is, is no upper bound. Programs whose one cause was cured (see
`benchmarks/diagnoses.py`) had the rest faster by up to 0.55 of the share of time that went away, a third of it in the
worst case; in most it stayed as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rlprof.advise.bounds import LARGEST_RATIO
from rlprof.model.report import Finding, Gain

#: How much of the rest's time may go as well, for each share of the whole that a cure takes away, and at most.
RELIEF: Final = 0.6
MOST_RELIEF: Final = 0.4


def relieved(gain: Gain) -> Gain:
    """The same gain with the upper end that holds when the rest gets faster; its other figures stay Amdahl's."""
    if gain.high <= 1.0:
        return gain
    saved = 1.0 - 1.0 / gain.high
    return replace(gain, high=min(gain.high / (1.0 - min(RELIEF * saved, MOST_RELIEF)), LARGEST_RATIO))


def with_relief(findings: tuple[Finding, ...], relieving: frozenset[str]) -> tuple[Finding, ...]:
    """The findings of `relieving` rules with that upper end. They were ranked and weighed by their own time alone."""
    return tuple(
        replace(finding, gain=relieved(finding.gain)) if finding.rule in relieving else finding for finding in findings
    )
