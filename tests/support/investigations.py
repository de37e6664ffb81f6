"""Plans, hypotheses and measurements for tests of investigations."""

from __future__ import annotations

from typing import Any

from rlprof.experiments.investigate.plan import Change, Hypothesis, Words
from rlprof.model.investigation import Measured, Tested, Work

PLAN = """
[baseline]
command = "train.py --turns 40 --log=step"

[settings]
runs = 5

[[hypothesis]]
name = "quicker update"
because = "learning is most of the time"
expect = 1.5
confidence = 0.8
effort = 2
changes_learning = false
change.arguments = "--update 0.001"

[[hypothesis]]
name = "no log"
expect = 1.2
confidence = 0.9
effort = 0.5
changes_learning = false
change.arguments = ["--log", "none"]
"""

WORK = Work(1000.0, 10.0, 100.0, 50.0)


def a_hypothesis(name: str = "quicker", **changes: Any) -> Hypothesis:
    """One that is thought to bring half as much again."""
    words = Words(**{key: changes.pop(key) for key in ("because", "action", "diagnosis", "fill_in") if key in changes})
    change = Change(**{key: changes.pop(key) for key in Change.__dataclass_fields__ if key in changes})
    given: dict[str, Any] = {"expect": 1.5, "confidence": 0.8, "effort": 1.0, "changes_learning": False, **changes}
    return Hypothesis(name=name, change=change, words=words, **given)


def a_measurement(ratio: float = 1.5, low: float | None = 1.4, high: float | None = 1.6, pairs: int = 6) -> Measured:
    return Measured(
        ratio, low, high, 0.96, pairs, "env step", 1.3, 10.0, 8.0, 100.0, 100.0 * ratio, 3, WORK, WORK
    )  # fmt: skip


def a_result(hypothesis: Hypothesis, verdict: str, measured: Measured | None = None, **changes: Any) -> Tested:
    """What came of a hypothesis."""
    given: dict[str, Any] = {
        "name": hypothesis.name,
        "because": hypothesis.words.because,
        "expected": hypothesis.expect,
        "confidence": hypothesis.confidence,
        "effort": hypothesis.effort,
        "changes_learning": hypothesis.changes_learning,
        "diagnosis": hypothesis.is_diagnosis,
        "command": "train.py",
        "environment": {},
        "treatments": (),
        "expectation": None,
        "notes": (),
    }
    return Tested(**{**given, "verdict": verdict, "measured": measured, **changes})
