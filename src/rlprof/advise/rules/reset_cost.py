"""`reset-cost`: beginning an episode takes long, or is done more often than episodes end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import evidence_of, main_operations, outermost, own_lines, part_named, places, seconds_of
from rlprof.analyse.built_anew import built_anew
from rlprof.analyse.ledger import open_account
from rlprof.analyse.seen import seconds_seen
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Operation, Place, Report
from rlprof.model.units import format_duration

RULE: Final = "reset-cost"
RESET: Final = "env.reset"
ENV_STEP: Final = "env.step"
FEWEST_RESETS: Final = 10
#: How many env steps a reset must cost: where episodes are short, a reset that costs one is no cause.
FEWEST_STEPS_EACH: Final = 3.0
#: Resets for each episode that ended, from which on some are for nothing.
DOUBLE: Final = 1.5
#: The first reset may build the world. It is left out where it took so many times what the others do.
UNLIKE_OTHERS: Final = 10.0
#: Samples of constructors, the eighths of the training that they must be seen in, and what they surely take of it.
FEWEST_SAMPLES: Final = 10
FEWEST_PIECES: Final = 5
SMALLEST_BUILT: Final = 0.03


def reset_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of resets, and of environments that are built anew instead."""
    yield from _resets(report)
    yield from _built_anew(recording, report)


def _built_anew(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when constructors of environments run all through the training, and their time matters."""
    seen, running = built_anew(open_account(recording.main), report), training_seconds(report)
    if seen.samples < FEWEST_SAMPLES or len(seen.pieces) < FEWEST_PIECES:
        return
    seconds, least, most = seconds_seen(report, seen, running)
    if least < SMALLEST_BUILT * running:
        return
    first, *_ = places = tuple(Place(spot.file, spot.line, spot.function) for spot in seen.spots[:3])
    yield from Claim(
        RULE,
        f"environments are built anew while training: {format_duration(seconds)}",
        Saving(0.0, most),
        places,
        f"{first.file}:{first.line} makes an environment again and again: make it once, before the loop, and let "
        "`reset` put it back; where each has a world of its own, give `reset` the seed and keep the worlds that were "
        "made before",
        {
            "phases": sorted(seen.by_part),
            "building_seconds": seconds,
            "building_low_seconds": least,
            "share_of_training": seconds / running,
            "samples": seen.samples,
            "lines": [{"file": s.file, "line": s.line, "samples": seen.by_spot[s]} for s in seen.spots[:3]],
        },
    ).findings(report)


def _resets(report: Report) -> Iterator[Finding]:
    """Speaks when a reset costs several steps, or comes twice, and all of them together matter."""
    resets = outermost(main_operations(report), RESET)
    calls = sum(entry.calls for entry in resets)
    lines = own_lines(part_named(report, RESET))
    if calls < FEWEST_RESETS or not lines:
        return
    seconds = _without_first(resets, calls)
    steps, episodes = report.throughput.env_steps, report.throughput.episodes
    per_step = seconds_of(report, ENV_STEP) / steps if steps else None
    in_steps = seconds / calls / per_step if per_step else None
    per_episode = calls / episodes if episodes else None
    doubled = per_episode is not None and per_episode > DOUBLE
    if not doubled and (in_steps is None or in_steps < FEWEST_STEPS_EACH):
        return
    length = steps / episodes if steps and episodes else None
    yield from Claim(
        RULE,
        _title(calls, seconds, in_steps, per_episode if doubled else None),
        Saving(0.0, seconds),
        places(lines),
        _cure(lines[0].file, lines[0].line, doubled, length),
        {
            "phases": [RESET],
            "resets": calls,
            "resets_per_episode": per_episode,
            "reset_seconds": seconds,
            "seconds_per_reset": seconds / calls,
            "reset_in_env_steps": in_steps,
            "mean_episode_length": length,
            "lines": evidence_of(lines),
        },
    ).findings(report)


def _without_first(resets: list[Operation], calls: int) -> float:
    total = sum(entry.total_seconds for entry in resets)
    longest = max((entry.max_seconds or 0.0 for entry in resets), default=0.0)
    others = (total - longest) / (calls - 1)
    return total - longest if longest > UNLIKE_OTHERS * others else total


def _title(calls: int, seconds: float, in_steps: float | None, per_episode: float | None) -> str:
    twice = f", {per_episode:.3g} for each episode" if per_episode is not None else ""
    each = f", each as long as {in_steps:.3g} env steps" if in_steps is not None else ""
    return f"{calls:,d} resets{twice} take {format_duration(seconds)}{each}"


def _cure(file: str, line: int, doubled: bool, length: float | None) -> str:
    twice = (
        "there are more resets than episodes: a vector environment that resets by itself needs no second `reset()`; "
        if doubled
        else ""
    )
    short = f" Episodes are {length:.3g} steps long: the share falls if they grow." if length is not None else ""
    return (
        f"{twice}{file}:{line} is where most of it goes: build the world once in `__init__` and let `reset` only put "
        "it back (`array[:] = start`), draw new worlds from a set that was made before, or make the next one every N "
        f"episodes only.{short}"
    )
