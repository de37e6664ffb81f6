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
    """One phase of the schedule up to some moment. A rollout that goes on then counts in what is spent, not as one."""

    rollouts: int = 0  # that have ended
    rollout_seconds: float = 0.0  # of these
    spent_seconds: float = 0.0  # in rollouts, with the one that goes on
    parts: tuple[float, ...] = (0.0,) * len(PARTS)  # seconds of it
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


def phase_totals(report: Report, recording: Recording) -> dict[str, PhaseTotals]:
    """The phases around rollouts, in the order in which they began; a name is empty where there is no phase."""
    main = report.run.processes[0]
    mine = [entry for entry in report.operations if entry.process == main.id and entry.thread == (main.thread or "")]
    steps_per_call = _steps_per_call(report, mine)
    rollouts = {_name(entry.path): entry for entry in mine if entry.path[-1] == ROLLOUT}
    began = [phase for phase in _phases_in_order(recording) if phase in rollouts]
    return {phase: _totals(rollouts[phase], mine, steps_per_call) for phase in began}


def _phases_in_order(recording: Recording) -> list[str]:
    paths = recording.main.paths
    rollouts = (paths[number] for number in sorted(paths) if paths[number].name == ROLLOUT)
    around = (paths.get(path.parent) if path.parent is not None else None for path in rollouts)
    return list(dict.fromkeys(path.name if path is not None else "" for path in around))


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
    ended = rollout.calls - int(rollout.open)
    return PhaseTotals(
        rollouts=ended,
        rollout_seconds=ended * (rollout.avg_seconds or 0.0),
        spent_seconds=rollout.total_seconds,
        parts=tuple(parts.values()),
        seconds=phase_seconds,
        env_steps=step_calls * steps_per_call,
    )


def mean_rollouts(now: Mapping[str, PhaseTotals], before: Mapping[str, PhaseTotals] | None = None) -> list[RolloutTree]:
    """The mean rollout of each phase that had some since `before`, or since the start."""
    trees: list[RolloutTree] = []
    for phase, totals in now.items():
        earlier = (before or {}).get(phase, PhaseTotals())
        if totals.rollouts > earlier.rollouts and totals.spent_seconds > earlier.spent_seconds:
            trees.append(_mean(phase, totals, earlier))
    return trees


def _mean(phase: str, now: PhaseTotals, before: PhaseTotals) -> RolloutTree:
    seconds = (now.rollout_seconds - before.rollout_seconds) / (now.rollouts - before.rollouts)
    spent = now.spent_seconds - before.spent_seconds
    shares = [max(late - early, 0.0) / spent for late, early in zip(now.parts, before.parts, strict=True)]
    rows = [(part[-1], len(part) - 1, share) for part, share in zip(PARTS, shares, strict=True) if share > 0]
    rows.append((REST, 0, max(1.0 - sum(share for _, depth, share in rows if depth == 0), 0.0)))
    passed, steps = now.seconds - before.seconds, now.env_steps - before.env_steps
    return RolloutTree(
        phase=phase,
        first=before.rollouts + 1,
        last=now.rollouts,
        seconds=seconds,
        parts=tuple(RolloutPart(name, depth, share * seconds, share) for name, depth, share in rows),
        sps=steps / passed if passed > 0 and steps > 0 else None,
    )
