"""The time of a program that draws what its network sees: environment, rendering, model, policy, training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlprof.model.phases import category_of
from rlprof.model.report import Operation, Report

#: A span of this name is the network's own work, while acting and while learning.
MODEL_SPAN: Final = "forward pass"

ENVIRONMENT: Final = "environment"
RENDERING: Final = "rendering"
MODEL: Final = "model"
POLICY: Final = "policy"
TRAINING: Final = "training"
REST: Final = "everything else"
ORDER: Final = (ENVIRONMENT, RENDERING, MODEL, POLICY, TRAINING, REST)

_OF_PHASES: Final = {
    "environment": ENVIRONMENT,
    "communication": ENVIRONMENT,
    "policy": POLICY,
    "buffer": TRAINING,
    "advantage": TRAINING,
    "learning": TRAINING,
}


@dataclass(frozen=True, slots=True)
class CategoryTime:
    name: str
    seconds: float
    share: float  # of the wall clock


def categories_of(report: Report) -> tuple[CategoryTime, ...]:
    """The wall clock of the main process by category; what no operation covers is with everything else."""
    main = report.run.processes[0]
    wall = main.wall_seconds
    sums = dict.fromkeys(ORDER, 0.0)
    for entry in report.operations:
        if entry.process == main.id and entry.thread == (main.thread or ""):
            sums[_category(entry)] += entry.self_seconds
    sums[REST] = max(wall - sum(seconds for name, seconds in sums.items() if name != REST), 0.0)
    return tuple(CategoryTime(name, seconds, seconds / wall if wall else 0.0) for name, seconds in sums.items())


def _category(operation: Operation) -> str:
    if operation.phase == "env.render":
        return RENDERING
    # The garbage collector may strike anywhere, and has a phase of its own.
    if MODEL_SPAN in operation.path and operation.phase != "gc":
        return MODEL
    return _OF_PHASES.get(category_of(operation.phase), REST)
