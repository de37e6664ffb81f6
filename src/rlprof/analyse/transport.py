"""How large observations of a vector environment are, whether through shared memory, and how long sending takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.ledger import NS_PER_SECOND
from rlprof.analyse.stacks import callers
from rlprof.model.recording import Frame, Process, Recording

#: Fewer samples of a worker than this tell nothing of what it does.
FEWEST_OF_WORKER: Final = 50
#: What writes a message into a pipe, and pickles it before.
_PIPES: Final = re.compile(r"[\\/]multiprocessing[\\/]connection\.py$")
_SENDS: Final = frozenset({"send", "send_bytes"})


@dataclass(frozen=True, slots=True)
class Transport:
    observation_bytes: int  # of one environment
    shared_memory: bool | None  # None where the environment does not say


def transports_of(recording: Recording) -> dict[tuple[int, str], Transport]:
    """By process and name of the vector environment; of several of one name, the one with the largest observations."""
    found: dict[tuple[int, str], Transport] = {}
    for process in recording.processes:
        facts = process.facts.get("vector_envs")
        for fact in facts if isinstance(facts, list) else ():
            size = fact.get("observation_bytes") if isinstance(fact, Mapping) else None
            if type(size) is not int:
                continue
            key, shared = (process.id, str(fact.get("name"))), fact.get("shared_memory")
            if key not in found or found[key].observation_bytes < size:
                found[key] = Transport(size, shared if isinstance(shared, bool) else None)
    return found


def sending_seconds(workers: Sequence[Process]) -> float | None:
    """For how long the mean worker was sending, by its own stacks; None where one of them was hardly looked at.

    A pipe holds less than a large observation, so that a worker is held up in sending it until all but the last of it
    is read. A small message is gone at once, however long the other side takes to wake up for it.
    """
    each = [_sending(worker) for worker in workers]
    known = [seconds for seconds in each if seconds is not None]
    return sum(known) / len(known) if known and len(known) == len(each) else None


def _sending(worker: Process) -> float | None:
    samples, life = worker.samples, (worker.end_ns - worker.start_ns) / NS_PER_SECOND
    total = int(samples.count.sum())
    if total < FEWEST_OF_WORKER:
        return None
    rows = zip(samples.frame.tolist(), samples.count.tolist(), strict=True)
    sending = sum(int(count) for leaf, count in rows if any(map(_sends, callers(samples.frames, leaf))))
    return life * sending / total


def _sends(frame: Frame) -> bool:
    return frame.function.rpartition(".")[2] in _SENDS and _PIPES.search(frame.file) is not None
