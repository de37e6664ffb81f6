"""A training loop that collects with TorchRL, by components: parts add up to their component, and these to the loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.report import Operation, Report

COLLECTION: Final = "data collection"
ENV_STEP: Final = "env step"
TENSORDICT: Final = "TensorDict operations"
GARBAGE: Final = "garbage collection"
OTHER: Final = "everything else"

#: Components in the order of the loop, each with its parts; one without parts stands for itself.
COMPONENTS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (COLLECTION, (ENV_STEP, "policy forward", TENSORDICT, "env reset", GARBAGE)),
    ("GAE", ()),
    ("replay buffer", ()),
    ("training loop", ("loss", "backward", "optimizer", "clip, zero_grad")),
    (GARBAGE, ()),
    (OTHER, ()),
)
_WHILE_COLLECTING: Final = {"policy.forward": "policy forward", "env.reset": "env reset", "gc": GARBAGE}
_WHILE_LEARNING: Final[Mapping[str, tuple[str, str | None]]] = {
    "advantage": ("GAE", None),
    "buffer.add": ("replay buffer", None),
    "buffer.sample": ("replay buffer", None),
    "learn.loss": ("training loop", "loss"),
    "learn.backward": ("training loop", "backward"),
    "learn.optimizer": ("training loop", "optimizer"),
    "learn.other": ("training loop", "clip, zero_grad"),
    "gc": (GARBAGE, None),
}


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    depth: int  # 0: a component, 1: of the component above it
    seconds: float
    share: float  # of the training loop


@dataclass(frozen=True, slots=True)
class Breakdown:
    parts: tuple[Part, ...]
    seconds: float  # of the training loop: all components together
    outside_seconds: float  # imports, set-up, the end, and rlprof itself
    env_step_gain: float | None  # how many times faster the loop would be if the simulator took no time


def breakdown_of(report: Report) -> Breakdown | None:
    """The components of the main process; None where no collector was seen."""
    main = report.run.processes[0]
    mine = [entry for entry in report.operations if entry.process == main.id and entry.thread == (main.thread or "")]
    if not any("collect" in operation.path for operation in mine):
        return None
    sums = _add_up(mine)
    total = sum(sums.values())
    simulated = sums.get((COLLECTION, ENV_STEP), 0.0)
    return Breakdown(
        parts=tuple(_parts(sums, total)),
        seconds=total,
        outside_seconds=max(report.ledger.wall_seconds - total, 0.0),
        env_step_gain=total / (total - simulated) if 0.0 < simulated < total else None,
    )


def _add_up(operations: Iterable[Operation]) -> dict[tuple[str, str | None], float]:
    sums: dict[tuple[str, str | None], float] = {}
    for operation in operations:
        if operation.phase != UNATTRIBUTED:
            place = place_of(operation.path, operation.phase)
            sums[place] = sums.get(place, 0.0) + operation.self_seconds
    return sums


def part_of(path: tuple[str, ...], phase: str) -> str:
    """The finest part that a path's own time belongs to."""
    if phase == UNATTRIBUTED:
        return OTHER
    component, part = place_of(path, phase)
    return part or component


def place_of(path: tuple[str, ...], phase: str) -> tuple[str, str | None]:
    """The component and the part of it that a path's own time belongs to."""
    if "collect" not in path:
        return _WHILE_LEARNING.get(phase, (OTHER, None))
    part = _WHILE_COLLECTING.get(phase)
    if part is None:
        part = ENV_STEP if _is_simulating(path) else TENSORDICT
    return COLLECTION, part


def _is_simulating(path: tuple[str, ...]) -> bool:
    """Inside the environment that TorchRL's environment steps. Such a span has the name of the environment's class."""
    inside = path[path.index("env.step") + 1 :] if "env.step" in path else ()
    return any(name.isidentifier() for name in inside)


def _parts(sums: Mapping[tuple[str, str | None], float], total: float) -> Iterable[Part]:
    for component, parts in COMPONENTS:
        seconds = sum(value for (name, _), value in sums.items() if name == component)
        if seconds > 0:
            yield Part(component, 0, seconds, seconds / total)
        for part in parts:
            if (component, part) in sums:
                inner = sums[component, part]
                yield Part(part, 1, inner, inner / total)
