"""ML-Agents' `timers.json`: a tree of timers with counts, totals and own times, in the forms that its versions wrote.

`children` may be an object, a list or null. Below a timer that runs in parallel are those of the workers, which
together take longer than it does: they become a thread of their own, and the timer keeps its time as time of waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rlprof.model.errors import NotARecording
from rlprof.recording.importers.spans import DEEPEST, Imported, Span, nanoseconds, root, settle_self

#: Children that take so much longer than their timer have run beside each other; less is rounding.
LONGER: Final = 1.001
#: What ML-Agents calls its timers, and the phase that is.
PHASES: Final = {
    "env_step": "env.step",
    "SubprocessEnvManager._take_step": "policy.forward",
    "UnityEnvironment.step": "env.step",
    "communicator.exchange": "env.ipc",
    "steps_from_proto": "env.ipc",
    "_generate_step_input": "env.ipc",
    "TorchPolicy.evaluate": "policy.forward",
    "TFPolicy.evaluate": "policy.forward",
    "NNPolicy.evaluate": "policy.forward",
    "workers": "env.wait",
    "trainer_advance": "learn.other",
    "update_policy": "learn.other",
    "_update_policy": "learn.other",
    "TorchPPOOptimizer.update": "learn.loss",
    "PPOPolicy.update": "learn.loss",
    "reset_env": "env.reset",
    "env_reset": "env.reset",
    "save_model": "checkpoint",
    "_save_models": "checkpoint",
    "RLTrainer._checkpoint": "checkpoint",
    "write_summary": "log",
}


def read_timers(document: Any, file: Path) -> Imported:
    """The timers as spans of one thread, and those of its workers as spans of another."""
    if not is_timers(document):
        raise NotARecording(f"{file} is no timers.json of ML-Agents: it has no total and no children")
    top, workers = root(), root()
    wall = nanoseconds(document["total"])
    _fill(document, top, workers, 0)
    settle_self(top, wall)
    metadata = document.get("metadata")
    facts: dict[str, Any] = {"imported": "ML-Agents timers"}
    if isinstance(metadata, dict) and isinstance(metadata.get("python_version"), str):
        facts["python"] = metadata["python_version"]
    threads = [("MainThread", top)] + ([("workers", workers)] if workers.children else [])
    return Imported(source=file, wall_ns=wall, threads=threads, facts=facts)


def is_timers(document: Any) -> bool:
    return isinstance(document, dict) and nanoseconds(document.get("total")) > 0 and "children" in document


def _fill(node: Any, span: Span, workers: Span | None, depth: int) -> None:
    """Put what is below a timer below its span; what workers did, below their own root. `workers` is None inside it."""
    children = list(_children(node))
    apart = workers is not None and _is_parallel(node, children)
    beneath = workers if workers is not None and apart else span
    for name, child in children:
        below = beneath.child(name, PHASES.get(name.rpartition("/")[2], PHASES.get(name.rpartition(".")[2])))
        total, own = nanoseconds(child.get("total")), nanoseconds(child.get("total"))
        count = child.get("count")
        below.count += count if isinstance(count, int) and 0 <= count < 1 << 60 else 0
        below.total_ns += total
        if depth < DEEPEST:
            within = None if apart else workers
            _fill(child, below, within, depth + 1)
            inside = list(_children(child))
            if within is None or not _is_parallel(child, inside):
                own -= sum(nanoseconds(each.get("total")) for _, each in inside)
        below.self_ns += max(own, 0)


def _is_parallel(node: Any, children: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether workers run below a timer: it says so, or they took longer than it did."""
    inside = sum(nanoseconds(child.get("total")) for _, child in children)
    return node.get("is_parallel") is True or inside > LONGER * nanoseconds(node.get("total"))


def _children(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    found = node.get("children")
    pairs = (
        found.items()
        if isinstance(found, dict)
        else ((each.get("name"), each) for each in found or () if isinstance(each, dict))
    )
    for name, child in pairs:
        if isinstance(name, str) and isinstance(child, dict):
            yield name, child
