"""Rollouts that a program has marked, phase by phase: what one takes on average, and how many steps come in a second.

A program marks the phases of its schedule, the rollouts in them and the parts of these, with `record_function` or
otherwise. Figures are running totals, so the difference of two reports of one run is about what was between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.model.recording import Recording
from rlprof.model.report import Operation, Report

ROLLOUT: Final = "rollout"
ENV_STEP: Final = "env.step"

#: The parts of a rollout, in the order in which they are shown.
PARTS: Final[tuple[tuple[str, ...], ...]] = (
    ("student forward",),
    ("teacher",),
    ("teacher", "reshape"),
    ("teacher", "device to host"),
    ("teacher", "agent calls"),
    ("teacher", "stack and back"),
    ("env step",),
    ("replay store",),
)
_NAMES: Final = frozenset(name for part in PARTS for name in part)
REST: Final = "everything else"


@dataclass(frozen=True, slots=True)
class PhaseTotals:
    """One phase of the schedule up to some moment."""

    rollouts: int = 0
    rollout_seconds: float = 0.0
    parts: tuple[float, ...] = (0.0,) * len(PARTS)  # seconds
    seconds: float = 0.0  # of the whole phase, updates included
    env_steps: float = 0.0


@dataclass(frozen=True, slots=True)
class RolloutPart:
    name: str
    depth: int
    seconds: float  # per rollout
    share: float  # of the rollout


@dataclass(frozen=True, slots=True)
class RolloutTree:
    """The mean rollout of some of a phase."""

    phase: str
    first: int
    last: int
    seconds: float
    parts: tuple[RolloutPart, ...]
    sps: float | None


def count_rollouts(recording: Recording) -> int:
    """How many rollouts have ended in the main process."""
    main = recording.main
    return sum(stats.count for path, stats in main.stats.items() if main.paths[path].name == ROLLOUT)


def phase_totals(report: Report) -> dict[str, PhaseTotals]:
    """The phases around rollouts, in the order in which the program marks them; the name is empty where there is none."""
    main = report.run.processes[0]
    mine = [entry for entry in report.operations if entry.process == main.id and entry.thread == (main.thread or "")]
    steps_per_call = _steps_per_call(report, mine)
    rollouts = sorted((entry for entry in mine if entry.path[-1] == ROLLOUT), key=lambda entry: entry.path)
    return {_name(entry.path): _totals(entry, mine, steps_per_call) for entry in rollouts}


def _name(path: tuple[str, ...]) -> str:
    return path[-2] if len(path) > 1 else ""


def _steps_per_call(report: Report, operations: Iterable[Operation]) -> float:
    calls = sum(entry.calls for entry in operations if entry.path[-1] == ENV_STEP)
    return (report.throughput.env_steps or 0.0) / calls if calls else 0.0


def _totals(rollout: Operation, operations: Iterable[Operation], steps_per_call: float) -> PhaseTotals:
    parts = dict.fromkeys(PARTS, 0.0)
    phase_seconds, step_calls = rollout.total_seconds, 0
    depth = len(rollout.path)
    for entry in operations:
        if entry.path == rollout.path[:-1]:
            phase_seconds = entry.total_seconds
        if entry.path[:depth] != rollout.path:
            continue
        inside = entry.path[depth:]
        if inside and inside[-1] == ENV_STEP:
            step_calls += entry.calls
        part = tuple(name for name in inside if name in _NAMES)
        if part in parts and inside[-1] == part[-1]:
            parts[part] += entry.total_seconds
    return PhaseTotals(
        rollout.calls, rollout.total_seconds, tuple(parts.values()), phase_seconds, step_calls * steps_per_call
    )


def mean_rollouts(now: Mapping[str, PhaseTotals], before: Mapping[str, PhaseTotals] | None = None) -> list[RolloutTree]:
    """The mean rollout of each phase that had some since `before`, or since the start."""
    trees: list[RolloutTree] = []
    for phase, totals in now.items():
        earlier = (before or {}).get(phase, PhaseTotals())
        if totals.rollouts > earlier.rollouts:
            trees.append(_mean(phase, totals, earlier))
    return trees


def _mean(phase: str, now: PhaseTotals, before: PhaseTotals) -> RolloutTree:
    count = now.rollouts - before.rollouts
    seconds = (now.rollout_seconds - before.rollout_seconds) / count
    each = [max(late - early, 0.0) / count for late, early in zip(now.parts, before.parts, strict=True)]
    rows = [(part[-1], len(part) - 1, spent) for part, spent in zip(PARTS, each, strict=True) if spent > 0]
    rows.append((REST, 0, max(seconds - sum(spent for _, depth, spent in rows if depth == 0), 0.0)))
    passed, steps = now.seconds - before.seconds, now.env_steps - before.env_steps
    return RolloutTree(
        phase=phase,
        first=before.rollouts + 1,
        last=now.rollouts,
        seconds=seconds,
        parts=tuple(RolloutPart(name, depth, spent, spent / seconds if seconds else 0.0) for name, depth, spent in rows),
        sps=steps / passed if passed > 0 and steps > 0 else None,
    )
