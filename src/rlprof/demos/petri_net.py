"""Timed Petri nets, and a random one that models a flexible manufacturing cell.

A place holds tokens, and a token that comes into a place stays for the place's delay before it can be taken on. A
transition may fire when each of its input places holds enough tokens that are ready; it takes them and gives new ones
to its output places. Time passes only when somebody waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Net:
    """Places are columns and transitions are rows of two matrices; their difference is the incidence matrix."""

    places: tuple[str, ...]
    transitions: tuple[str, ...]
    takes: Ints
    gives: Ints
    delays: Ints

    @property
    def incidence(self) -> Ints:
        return self.gives - self.takes


@dataclass(frozen=True)
class CellSize:
    job_types: int = 4
    stages: int = 4
    machines: int = 5
    slots: int = 2  # of the buffer in front of each machine
    jobs: int = 12
    longest: int = 20  # processing time of one operation


@dataclass(frozen=True)
class Cell:
    """A manufacturing cell as a net, with what a scheduler has to know about its places and transitions."""

    net: Net
    size: CellSize
    routes: Ints  # [job type, stage]: the machine
    times: Ints  # [job type, stage]: how long it works
    raw: Ints  # the place in which each job type begins
    machines: Ints  # the place that holds a machine while it is free
    empty: Ints  # the marking with no job in the cell
    leaves: frozenset[int]  # the transitions by which a job leaves the cell


class _NetBuilder:
    """Places and arcs by name, numbered in the order in which they are first spoken of."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.delays: dict[str, int] = {}
        self.arcs: dict[str, tuple[list[str], list[str]]] = {}

    def place(self, name: str, delay: int = 0) -> str:
        self.places.setdefault(name, len(self.places))
        self.delays[name] = delay
        return name

    def transition(self, name: str, takes: list[str], gives: list[str]) -> None:
        self.arcs[name] = (takes, gives)

    def build(self) -> Net:
        takes = np.zeros((len(self.arcs), len(self.places)), dtype=np.int64)
        gives = np.zeros_like(takes)
        for row, (sources, targets) in enumerate(self.arcs.values()):
            for name in sources:
                takes[row, self.places[name]] += 1
            for name in targets:
                gives[row, self.places[name]] += 1
        delays = np.array([self.delays[name] for name in self.places], dtype=np.int64)
        return Net(tuple(self.places), tuple(self.arcs), takes, gives, delays)


def random_cell(seed: int, size: CellSize) -> Cell:
    """Every job type has a route over different machines where there are enough, and its own processing times.

    A machine is held from the start of an operation until its product has a slot in front of the next machine. So jobs
    may block each other in a circle, as in real cells: who lets in too many jobs at once ends in a deadlock.
    """
    random = np.random.default_rng(seed)
    again = size.stages > size.machines
    routes = np.stack([random.choice(size.machines, size.stages, replace=again) for _ in range(size.job_types)])
    times = random.integers(max(size.longest // 5, 1), size.longest + 1, size=routes.shape)
    builder = _NetBuilder()
    machines = [builder.place(f"machine {m}") for m in range(size.machines)]
    slots = [builder.place(f"slots {m}") for m in range(size.machines)]
    for job in range(size.job_types):
        _add_route(builder, job, routes[job], times[job])
    net = builder.build()
    empty = np.zeros(len(net.places), dtype=np.int64)
    empty[[builder.places[name] for name in machines]] = 1
    empty[[builder.places[name] for name in slots]] = size.slots
    return Cell(
        net=net,
        size=size,
        routes=routes,
        times=times,
        raw=np.array([builder.places[f"raw {job}"] for job in range(size.job_types)]),
        machines=np.array([builder.places[name] for name in machines]),
        empty=empty,
        leaves=frozenset(net.transitions.index(f"finish {job}.{size.stages - 1}") for job in range(size.job_types)),
    )


def _add_route(builder: _NetBuilder, job: int, route: Ints, times: Ints) -> None:
    waiting = builder.place(f"raw {job}")
    freed: list[str] = []  # raw parts wait outside and hold no slot
    for stage, (machine, time) in enumerate(zip(route, times, strict=True)):
        working = builder.place(f"working {job}.{stage}", int(time))
        builder.transition(f"start {job}.{stage}", [waiting, f"machine {machine}"], [working, *freed])
        if stage == len(route) - 1:
            done = builder.place(f"done {job}")
            builder.transition(f"finish {job}.{stage}", [working], [done, f"machine {machine}"])
            return
        following = f"slots {route[stage + 1]}"
        waiting, freed = builder.place(f"waiting {job}.{stage + 1}"), [following]
        builder.transition(f"finish {job}.{stage}", [working, following], [waiting, f"machine {machine}"])
