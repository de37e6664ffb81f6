"""Calls that were counted and not timed: what they took is estimated from those of the same path that were timed.

The time of an untimed call was booked on the span around it, which had no other innermost span at that moment. It is
moved from there to the path that it belongs to, in the proportion of untimed to timed calls, and with it the time of
what ran inside. Nothing is added or lost, so a ledger that closed before closes after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

from rlprof.analyse.tree import SpanTree
from rlprof.analyse.unseen import pace_unseen, unseen_calls
from rlprof.model.histogram import variation
from rlprof.model.recording import Process

CONFIDENCE: Final = 1.96  # of 95 in 100


@dataclass(frozen=True, slots=True)
class Estimate:
    """A process's paths with the untimed calls put where they belong.

    `calls` and `times` are by how much more often a path was called than its spans say, and by how much longer it took.
    """

    self_ns: Mapping[int, float]
    calls: Mapping[int, float]
    times: Mapping[int, float]


def estimate_untimed(process: Process, tree: SpanTree, self_ns: Mapping[int, float]) -> Estimate:
    """Move the time of untimed calls. `self_ns` is corrected for rlprof's own cost."""
    ratio = {identity: _ratio(process, identity) for identity in tree.order}
    if all(value == 1.0 for value in ratio.values()):
        same = dict.fromkeys(tree.order, 1.0)
        return Estimate(self_ns, same, same)
    more = {identity: _more_time(process, tree, identity, ratio[identity]) for identity in tree.order}
    own, growth = dict(self_ns), dict(ratio)
    beneath = dict(self_ns)  # of each path with all that is inside, as far as it was timed
    for identity in reversed(tree.order):
        below = tree.children[identity]
        moved = sum(more[child] * beneath[child] for child in below)
        if moved > 0.0:
            # Chance may have timed the longer calls: there is no more to move than the span around has.
            part = min(own[identity] / moved, 1.0)
            for child in below:
                growth[child] = 1.0 + more[child] * part
            own[identity] = max(own[identity] - moved * part, 0.0)  # rounding must not leave less than nothing
        beneath[identity] += sum(beneath[child] for child in below)
    calls: dict[int, float] = {}
    times: dict[int, float] = {}
    for identity in tree.order:
        above = tree.parent[identity]
        calls[identity] = 1.0 if above is None else calls[above] * ratio[above]
        times[identity] = growth[identity] * (1.0 if above is None else times[above])
    return Estimate({identity: own[identity] * times[identity] for identity in tree.order}, calls, times)


def _ratio(process: Process, identity: int) -> float:
    """Calls for each one that was timed."""
    stats = process.stats.get(identity)
    if stats is None or not stats.untimed or stats.timed <= 0:
        return 1.0
    return stats.count / stats.timed


def _more_time(process: Process, tree: SpanTree, identity: int, ratio: float) -> float:
    """The time of a path's untimed calls, in that of its timed ones."""
    if ratio == 1.0:
        return 0.0
    unseen = unseen_calls(process, identity) / process.stats[identity].timed
    pace = pace_unseen(process, identity, tree.parent[identity]) if unseen else 1.0
    return ratio - 1.0 + unseen * (pace - 1.0)


def relative_error(process: Process, identity: int) -> float:
    """How far a thinned path's time may be off, as a share of it, in 95 of 100 cases."""
    stats = process.stats[identity]
    if stats.timed < 2:
        return 1.0
    return CONFIDENCE * variation(stats.histogram) / sqrt(stats.timed) * stats.untimed / stats.count
