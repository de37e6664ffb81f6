"""The mean rollout as a tree in milliseconds, and the speed of each phase beside what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rlprof.analyse.expectations import FLAGGED_BELOW, PhaseSpeed
from rlprof.analyse.rollouts import ROLLOUT, RolloutPart, RolloutTree
from rlprof.model.clean import clean_text
from rlprof.model.units import format_percent, format_rate
from rlprof.render.bars import bar

_NAME_WIDTH: Final = 24
_BAR_WIDTH: Final = 24


def rollout_lines(tree: RolloutTree, *, plain: bool = False) -> list[str]:
    """A heading, the rollout, and its parts below it."""
    return [f"{heading(tree)}, mean ms", *(_line(part, plain) for part in with_whole(tree))]


def heading(tree: RolloutTree) -> str:
    """Which rollouts they are, and how fast they went."""
    which = f"rollout {tree.first}" if tree.first == tree.last else f"rollouts {tree.first} to {tree.last}"
    said = " ".join(part for part in (clean_text(tree.phase, 40), which) if part)
    return f"{said}, {format_rate(tree.sps)}" if tree.sps is not None else said


def with_whole(tree: RolloutTree) -> list[RolloutPart]:
    """The rollout, and its parts below it."""
    whole = RolloutPart(ROLLOUT, 0, tree.seconds, 1.0)
    return [whole, *(RolloutPart(part.name, part.depth + 1, part.seconds, part.share) for part in tree.parts)]


def _line(part: RolloutPart, plain: bool) -> str:
    name = "  " * part.depth + part.name
    drawn = bar(part.share, _BAR_WIDTH, plain=plain)
    return f"  {name:<{_NAME_WIDTH}} {part.seconds * 1000:9.2f} {format_percent(part.share):>6}  {drawn}".rstrip()


def speed_lines(speeds: Sequence[PhaseSpeed]) -> Iterable[str]:
    """The phases with their speeds, and a mark on what is far too slow."""
    yield f"{'phase':<14}{'device':<8}{'steps/s':>9}  expected"
    for speed in speeds:
        found = format_rate(speed.sps, "").strip()
        name = clean_text(speed.phase, 13)
        yield f"{name:<14}{speed.device:<8}{found:>9}  {expected_text(speed):<16}  {verdict_text(speed)}".rstrip()


def expected_text(speed: PhaseSpeed) -> str:
    if speed.expected is None:
        return "unknown"
    return f"{speed.expected.low:,.0f} to {speed.expected.high:,.0f}"


def verdict_text(speed: PhaseSpeed) -> str:
    if speed.expected is None or speed.share is None:
        return ""
    if speed.flagged:
        return f"SLOW: {format_percent(speed.share)} of the least, below {FLAGGED_BELOW:.0%}"
    assert speed.sps is not None
    if speed.sps < speed.expected.low:
        return f"{format_percent(speed.share)} of the least"
    return "as expected" if speed.sps <= speed.expected.high else "faster"
