"""Did a run come to the same results? Its counters, and the weights at its end bit by bit, say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.model.quickwins import Results
from rlprof.model.recording import Recording
from rlprof.model.units import format_count

#: What the main process counts. Workers may be ended before they have written the last of theirs.
COUNTED: Final = {"env_steps": "env steps", "episodes": "episodes", "updates": "updates"}
RETURNS: Final = "episode_return"


@dataclass(frozen=True, slots=True)
class Upshot:
    """What one run came to. Absent is what nobody counted."""

    counts: Mapping[str, float]
    returns: float | None
    weights: str | None

    @property
    def is_empty(self) -> bool:
        return not self.counts and self.returns is None and self.weights is None


def upshot_of(recording: Recording) -> Upshot:
    main = recording.main
    counts = {name: main.counters[name].amount for name in COUNTED if name in main.counters}
    returns = main.counters[RETURNS].amount if RETURNS in main.counters else None
    print_ = main.facts.get("fingerprint")
    weights = print_.get("weights") if isinstance(print_, Mapping) else None
    return Upshot(counts, returns, weights if isinstance(weights, str) else None)


def judge_results(baseline: Sequence[Upshot], arm: Sequence[Upshot]) -> Results:
    """Hold the runs of an arm against those of the program as it is, which have to agree among themselves first."""
    if not arm or len(baseline) < 2:
        return Results("unchecked", "not checked: that takes two runs of the program as it is")
    first = baseline[0]
    if first.is_empty:
        return Results("unchecked", "not checked: the program counts nothing and learns by no optimizer of torch")
    if any(_differences(first, other) for other in baseline[1:]):
        return Results("unchecked", "not checked: the program is not repeatable, two runs of it as it is differ")
    found = next((said for said in (_differences(first, other) for other in arm) if said), [])
    if found:
        return Results("different", f"other results: {', '.join(found)}")
    return Results("same", f"same results: {', '.join(_compared(first, arm[0]))}")


def _differences(a: Upshot, b: Upshot) -> list[str]:
    """What both sides know and do not agree on."""
    found = [
        f"{format_count(b.counts[name])} {COUNTED[name]} instead of {format_count(a.counts[name])}"
        for name in a.counts
        if name in b.counts and a.counts[name] != b.counts[name]
    ]
    if None not in (a.returns, b.returns) and a.returns != b.returns:
        found.append("other returns")
    if None not in (a.weights, b.weights) and a.weights != b.weights:
        found.append("other weights at the end")
    return found


def _compared(a: Upshot, b: Upshot) -> list[str]:
    named = [COUNTED[name] for name in a.counts if name in b.counts]
    if None not in (a.returns, b.returns):
        named.append("returns")
    if None not in (a.weights, b.weights):
        named.append("weights at the end, bit by bit")
    return named
