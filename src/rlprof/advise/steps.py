"""How often the main thread stepped its environments, asked its policy and learned. Evaluation counts apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rlprof.advise.lines import main_operations, outermost
from rlprof.model.recording import Recording
from rlprof.model.report import Operation, Report

LEARNING: tuple[str, ...] = ("learn.loss", "learn.backward", "learn.optimizer", "learn.other", "buffer.sample")

#: What the span of an outermost network's forward pass is called.
FORWARD: Final = "forward"

#: Environments that a call moves, where it is one: some calls may not have been counted.
ONE_EACH = 1.2


def step_calls(report: Report) -> int:
    """Calls of the outermost environment's step: one for all environments of a vector."""
    return sum(entry.calls for entry in outermost(in_training(report), "env.step"))


def forward_calls(report: Report) -> int:
    """Forward passes for acting."""
    return sum(entry.calls for entry in outermost(in_training(report), "policy.forward"))


def network_calls(report: Report) -> int:
    """Forward passes for whatever purpose, those for losses included."""
    return sum(entry.calls for entry in in_training(report) if entry.path[-1] == FORWARD)


def envs_per_step(report: Report) -> float | None:
    """How many environments a step moves, on average; None where no step was seen."""
    calls, steps = step_calls(report), report.throughput.env_steps
    return steps / calls if calls and steps else None


def envs_in_turn(recording: Recording, report: Report) -> tuple[float, float] | None:
    """How many environments a turn of the loop moves, and how many turns there were; None where no step was seen.

    They are those of a vector, or single ones that are stepped by one call each before the first has its turn again.
    """
    calls, envs = step_calls(report), envs_per_step(report)
    if not calls or envs is None:
        return None
    noted = recording.main.facts.get("envs_in_turn")
    if envs < ONE_EACH and isinstance(noted, int | float) and noted > 1.0:
        return float(round(noted)), calls / round(noted)
    return envs, float(calls)


def evaluations(report: Report) -> list[Operation]:
    """Evaluations as wholes, with the steps and forwards inside of them."""
    return outermost(main_operations(report), "evaluate")


def in_training(report: Report) -> list[Operation]:
    """The main thread's operations outside of evaluations."""
    inside = [entry.path for entry in evaluations(report)]
    return [entry for entry in main_operations(report) if not _is_below(entry.path, inside)]


def _is_below(path: tuple[str, ...], tops: Iterable[tuple[str, ...]]) -> bool:
    return any(path[: len(top)] == top for top in tops)
