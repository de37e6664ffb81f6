"""A training loop as sampling and training, and what a transition costs in each part of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.model.phases import COLLECT_CATEGORIES, TRAIN_CATEGORIES, TRAIN_PHASES, UNATTRIBUTED, category_of
from rlprof.model.report import Operation, Report, VectorEnvEntry

ACTING: Final = "action selection"
STEPPING: Final = "environment step"
STORING: Final = "buffer storage"
REST: Final = "rest of the loop"
TRAINING: Final = "training"
_OUTSIDE: Final = "outside"
#: Parts of sampling, in the order of the loop.
SAMPLING: Final = (ACTING, STEPPING, STORING, REST)

_LEARNING: Final = "learning"  # a span around what nobody marked, named by the probes


@dataclass(frozen=True, slots=True)
class LoopSplit:
    """Seconds of the main process. Imports, set-up and the end are outside of the loop."""

    envs: int
    workers: VectorEnvEntry | None  # None: the environments are in the main process
    parts: Mapping[str, float]
    outside_seconds: float
    transitions: float
    episodes: float | None
    simulator_seconds: float | None  # all environments' own steps, wherever they ran
    reward_seconds: float | None
    device_busy_share: float | None  # None: no device, or no window of torch.profiler that shows what it did

    @property
    def sampling_seconds(self) -> float:
        return sum(self.parts[part] for part in SAMPLING)

    @property
    def training_seconds(self) -> float:
        return self.parts[TRAINING]

    @property
    def loop_seconds(self) -> float:
        return self.sampling_seconds + self.training_seconds

    @property
    def rate(self) -> float:
        return self.transitions / self.loop_seconds

    @property
    def ratio(self) -> float | None:
        return self.sampling_seconds / self.training_seconds if self.training_seconds > 0 else None


def loop_split(report: Report, simulator: str, reward: str) -> LoopSplit | None:
    """None where no environment was stepped. `simulator` and `reward` are the names of spans inside of its steps."""
    main = report.run.processes[0]
    mine = [entry for entry in report.operations if entry.process == main.id and entry.thread == (main.thread or "")]
    calls = sum(entry.calls for entry in mine if entry.path[-1] == "env.step")
    transitions = report.throughput.env_steps
    if not calls or not transitions:
        return None
    parts = _add_up(mine)
    if report.ledger.startup_seconds is not None:
        parts[REST] += max(report.ledger.unattributed_seconds - report.ledger.startup_seconds, 0.0)
    inside = sum(seconds for part, seconds in parts.items() if part != _OUTSIDE)
    workers = report.workers.vector_envs[0] if report.workers is not None else None
    return LoopSplit(
        envs=round(transitions / calls),
        workers=workers,
        parts={part: parts[part] for part in (*SAMPLING, TRAINING)},
        outside_seconds=max(report.ledger.wall_seconds - inside, 0.0),
        transitions=transitions,
        episodes=report.throughput.episodes,
        simulator_seconds=_simulated(workers) if workers is not None else _total(report.operations, simulator),
        reward_seconds=_total(report.operations, reward),
        device_busy_share=report.device.get("busy_share") if report.device is not None else None,
    )


def _add_up(operations: list[Operation]) -> dict[str, float]:
    phases = {entry.path: entry.phase for entry in operations}
    sums = dict.fromkeys((*SAMPLING, TRAINING, _OUTSIDE), 0.0)
    for entry in operations:
        if entry.phase != UNATTRIBUTED:
            sums[_part_of(entry, phases)] += entry.self_seconds
    return sums


def _part_of(entry: Operation, phases: Mapping[tuple[str, ...], str]) -> str:
    """What an operation's own time belongs to: garbage collection and the like to what they happened in."""
    around = [entry.path[:length] for length in range(len(entry.path), 0, -1)]
    if entry.open and entry.path == (_LEARNING,):
        return _OUTSIDE  # learning is inferred to go on until the next step, and after the last one until the end
    if any(_is_training(phases.get(path, "")) for path in around):
        return TRAINING
    if any(path[-1] == "env.step" for path in around):
        return STEPPING
    for path in around:
        phase = phases.get(path, "")
        if phase == "env.reset":
            return _OUTSIDE  # not within a step: the first one, which also waits for workers to start
        if phase == "buffer.add":
            return STORING
        if category_of(phase) in COLLECT_CATEGORIES:
            return ACTING if category_of(phase) == "policy" else STEPPING
    return REST


def _is_training(phase: str) -> bool:
    return phase in TRAIN_PHASES or category_of(phase) in TRAIN_CATEGORIES


def _simulated(workers: VectorEnvEntry) -> float:
    return sum(worker.simulator_seconds for worker in workers.members)


def _total(operations: Iterable[Operation], name: str) -> float | None:
    found = [entry.total_seconds for entry in operations if entry.path[-1] == name]
    return sum(found) if found else None
