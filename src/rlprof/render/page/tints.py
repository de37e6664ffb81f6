"""The colour of each phase: one hue per category, in every chart the same, and a shade for each phase within it."""

from __future__ import annotations

from typing import Any, Final

from rlprof.model.phases import CATEGORIES, CATEGORY_OF, OVERHEAD, STARTUP, UNATTRIBUTED, category_of

#: Besides the categories of the vocabulary, whose names become names of styles.
OTHER: Final = "other"
_QUIET: Final = {UNATTRIBUTED: "unattributed", STARTUP: "unattributed", OVERHEAD: "overhead"}
_MOST_SHADES: Final = 4

#: Hue by part, in the order in which they are stacked.
ORDER: Final[tuple[str, ...]] = (*(name.replace(" ", "-") for name in CATEGORIES), OTHER, "unattributed", "overhead")


def tint(part: str) -> dict[str, Any]:
    """The names of a part's hue and shade."""
    return {"hue": hue(part), "shade": _shade(part)}


def hue(part: str) -> str:
    category = category_of(part)
    if category in CATEGORIES:
        return category.replace(" ", "-")
    return _QUIET.get(part, OTHER)


def _shade(part: str) -> int:
    if part == STARTUP:
        return 1
    siblings = [phase for phase, category in CATEGORY_OF.items() if category == category_of(part)]
    return siblings.index(part) % _MOST_SHADES if part in siblings else 0


def stacking(part: str) -> tuple[int, str]:
    """Where a part comes in a stack: by category, then by name."""
    return ORDER.index(hue(part)), f"{_shade(part)}{part}"
