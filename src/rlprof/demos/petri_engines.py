"""Two engines that play a timed Petri net: one as it is read in a textbook, one that remembers what is enabled.

Both go through the same states, token for token; `state` and `load` carry a game over from one to the other.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .petri_net import Net

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class State:
    """All tokens: how many are ready in each place, and when each of the others will be."""

    now: int
    ready: tuple[int, ...]
    pending: tuple[tuple[int, ...], ...]


class Engine(Protocol):
    now: int

    def load(self, state: State) -> None: ...
    def state(self) -> State: ...
    def enabled(self) -> Bools: ...
    def is_working(self) -> bool: ...
    def ready_in(self, places: Sequence[int]) -> int: ...
    def observe(self, token_scale: float, time_scale: float) -> Floats: ...
    def fire(self, transition: int) -> None: ...
    def wait(self) -> int: ...


class PlainEngine:
    """A list of tokens per place, each the moment from which it is ready; every question walks the lists."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.now = 0
        self.tokens: list[list[int]] = [[] for _ in net.places]
        self.takes = [[(place, int(n)) for place, n in enumerate(row) if n] for row in net.takes]
        self.gives = [[(place, int(n)) for place, n in enumerate(row) if n] for row in net.gives]

    def load(self, state: State) -> None:
        self.now = state.now
        self.tokens = [[state.now] * n + list(times) for n, times in zip(state.ready, state.pending, strict=True)]

    def state(self) -> State:
        ready = tuple(self._ready(place) for place in range(len(self.tokens)))
        return State(self.now, ready, tuple(tuple(self._pending(place)) for place in range(len(self.tokens))))

    def _ready(self, place: int) -> int:
        return sum(1 for time in self.tokens[place] if time <= self.now)

    def _pending(self, place: int) -> list[int]:
        return [time for time in self.tokens[place] if time > self.now]

    def _can_fire(self, transition: int) -> bool:
        return all(self._ready(place) >= n for place, n in self.takes[transition])

    def enabled(self) -> Bools:
        return np.array([self._can_fire(transition) for transition in range(len(self.takes))], dtype=np.bool_)

    def is_working(self) -> bool:
        return any(time > self.now for tokens in self.tokens for time in tokens)

    def ready_in(self, places: Sequence[int]) -> int:
        return sum(self._ready(place) for place in places)

    def observe(self, token_scale: float, time_scale: float) -> Floats:
        """For each place: ready tokens, those still in work, and how long the first of these needs."""
        ready, working, left = [], [], []
        for place in range(len(self.tokens)):
            pending = self._pending(place)
            ready.append(self._ready(place) / token_scale)
            working.append(len(pending) / token_scale)
            left.append((pending[0] - self.now) / time_scale if pending else 0.0)
        return np.array(ready + working + left, dtype=np.float32)

    def fire(self, transition: int) -> None:
        for place, n in self.takes[transition]:
            del self.tokens[place][:n]  # the oldest are ready first
        for place, n in self.gives[transition]:
            self.tokens[place].extend([self.now + int(self.net.delays[place])] * n)

    def wait(self) -> int:
        """Let time pass until the next token is ready; how long that took, 0 where none is in work."""
        times = [time for tokens in self.tokens for time in tokens if time > self.now]
        before, self.now = self.now, min(times, default=self.now)
        return self.now - before


class TurboEngine:
    """Counts in arrays, pending tokens in a heap, and after each change a second look at what it touches, only."""

    def __init__(self, net: Net) -> None:
        self.now = 0
        places = len(net.places)
        at_once = net.delays == 0
        self.moves = np.where(at_once, net.gives, 0) - net.takes
        self.begins = [
            [(int(p), int(net.delays[p])) for p in np.flatnonzero(row) for _ in range(row[p])]
            for row in np.where(at_once, 0, net.gives)
        ]
        widest = max(int((net.takes > 0).sum(axis=1).max()), 1)
        # Which places a transition looks at, and how many tokens it needs there; filled up with "needs none".
        order = np.argsort(net.takes == 0, axis=1, kind="stable")[:, :widest]
        self.inputs = order
        self.needs = np.take_along_axis(net.takes, order, axis=1)
        touched = ((self.moves != 0).astype(np.int64) @ (net.takes > 0).T.astype(np.int64)) > 0
        self.after_firing = [self._looks(np.flatnonzero(row)) for row in touched]
        self.after_waking = [self._looks(np.flatnonzero(column)) for column in (net.takes > 0).T]
        self.everything = self._looks(np.arange(len(net.transitions)))
        self.can_fire = np.zeros(len(net.transitions), dtype=np.bool_)
        self.load(State(0, (0,) * places, ((),) * places))

    def _looks(self, transitions: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        return transitions, self.inputs[transitions].T.copy(), self.needs[transitions].T.copy()

    def _look_again(self, looks: tuple[NDArray[np.int64], ...]) -> None:
        transitions, inputs, needs = looks
        if len(transitions):
            self.can_fire[transitions] = np.logical_and.reduce(self.ready[inputs] >= needs)

    def load(self, state: State) -> None:
        self.now = state.now
        self.ready = np.array(state.ready, dtype=np.int64)
        self.waiting = [deque(times) for times in state.pending]
        self.working = np.array([len(times) for times in state.pending], dtype=np.int64)
        self.first = np.array([times[0] if times else 0 for times in state.pending], dtype=np.int64)
        self.queue = [(time, place) for place, times in enumerate(state.pending) for time in times]
        heapq.heapify(self.queue)
        self._look_again(self.everything)

    def state(self) -> State:
        return State(self.now, tuple(self.ready.tolist()), tuple(tuple(times) for times in self.waiting))

    def enabled(self) -> Bools:
        enabled: Bools = self.can_fire.copy()
        return enabled

    def is_working(self) -> bool:
        return bool(self.queue)

    def ready_in(self, places: Sequence[int]) -> int:
        return int(self.ready[places].sum())

    def observe(self, token_scale: float, time_scale: float) -> Floats:
        left = np.where(self.working > 0, self.first - self.now, 0)
        scaled = (self.ready / token_scale, self.working / token_scale, left / time_scale)
        return np.concatenate(scaled, dtype=np.float32, casting="same_kind")

    def fire(self, transition: int) -> None:
        self.ready += self.moves[transition]
        for place, delay in self.begins[transition]:
            self._begin(place, self.now + delay)
        self._look_again(self.after_firing[transition])

    def _begin(self, place: int, until: int) -> None:
        if not self.waiting[place]:
            self.first[place] = until
        self.waiting[place].append(until)
        self.working[place] += 1
        heapq.heappush(self.queue, (until, place))

    def wait(self) -> int:
        """Let time pass until the next token is ready; how long that took, 0 where none is in work."""
        if not self.queue:
            return 0
        before, self.now = self.now, self.queue[0][0]
        while self.queue and self.queue[0][0] == self.now:
            _, place = heapq.heappop(self.queue)
            self._wake(place)
        return self.now - before

    def _wake(self, place: int) -> None:
        waiting = self.waiting[place]
        waiting.popleft()
        self.first[place] = waiting[0] if waiting else 0
        self.working[place] -= 1
        self.ready[place] += 1
        self._look_again(self.after_waking[place])
