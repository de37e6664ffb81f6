"""The closed vocabulary of RL phases and the categories they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

UNATTRIBUTED: Final = "unattributed"
STARTUP: Final = "startup"  # the part of the unattributed time before training began
OVERHEAD: Final = "overhead"
OTHER: Final = "other"

_BY_CATEGORY: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("environment", ("env.step", "env.reset", "env.render")),
    ("communication", ("env.wait", "env.ipc", "weights.sync")),
    ("policy", ("policy.forward", "policy.teacher")),
    ("buffer", ("buffer.add", "buffer.sample")),
    ("transfer", ("transfer.d2h", "transfer.h2d", "transfer.sync")),
    ("advantage", ("advantage",)),
    ("learning", ("learn.loss", "learn.backward", "learn.optimizer", "learn.other")),
    ("side work", ("evaluate", "log", "checkpoint", "gc")),
)

#: Every phase a span may be given, mapped to its category, in the order reports use.
CATEGORY_OF: Final[Mapping[str, str]] = MappingProxyType(
    {phase: category for category, phases in _BY_CATEGORY for phase in phases}
)

PHASES: Final[tuple[str, ...]] = tuple(CATEGORY_OF)

CATEGORIES: Final[tuple[str, ...]] = tuple(category for category, _ in _BY_CATEGORY)

#: What belongs to gathering experience and what to learning from it. The rest is neither.
COLLECT_CATEGORIES: Final = frozenset({"environment", "communication", "policy"})
TRAIN_CATEGORIES: Final = frozenset({"advantage", "learning"})
COLLECT_PHASES: Final = frozenset({"buffer.add"})
TRAIN_PHASES: Final = frozenset({"buffer.sample"})


def category_of(phase: str) -> str:
    """The category of a phase; what is outside the vocabulary is its own category."""
    return CATEGORY_OF.get(phase, phase)


def is_phase(name: str) -> bool:
    """Whether `name` belongs to the vocabulary that spans may use."""
    return name in CATEGORY_OF
