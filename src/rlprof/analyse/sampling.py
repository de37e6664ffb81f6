"""Gathering experience against learning from it."""

from __future__ import annotations

from collections.abc import Iterable

from rlprof.model.phases import COLLECT_CATEGORIES, COLLECT_PHASES, TRAIN_CATEGORIES, TRAIN_PHASES
from rlprof.model.report import PhaseEntry, Sampling


def sampling_of(phases: Iterable[PhaseEntry], wall_seconds: float) -> Sampling:
    """The split of the whole wall clock; what is neither, unattributed time and overhead included, is other."""
    entries = tuple(phases)
    collect = sum(e.seconds for e in entries if e.category in COLLECT_CATEGORIES or e.phase in COLLECT_PHASES)
    train = sum(e.seconds for e in entries if e.category in TRAIN_CATEGORIES or e.phase in TRAIN_PHASES)
    return Sampling(
        collect_seconds=collect,
        train_seconds=train,
        other_seconds=max(wall_seconds - collect - train, 0.0),
        ratio=collect / train if train > 0 else None,
    )
