"""How large the observations of a vector environment are, and whether they come through shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlprof.model.recording import Recording


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
