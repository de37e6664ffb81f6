"""Synthetic runs over time: what a step costs may change as they go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from support.recordings import FrameSpec, RecordingBuilder, a_recording, span

#: Of the env steps so far.
Course = Callable[[float], float]

SLICE = 0.5
NO_SPAN = ""


def always(value: float) -> Course:
    return lambda _: value


def rising(first: float, per_step: float) -> Course:
    return lambda steps: first + per_step * steps


def jump(before: float, after: float, at: float) -> Course:
    return lambda steps: before if steps < at else after


@dataclass
class Run:
    """A training loop: seconds per call and calls per env step of each phase, and what happens in each slice."""

    costs: Mapping[str, Course]
    often: Mapping[str, Course] = field(default_factory=dict)
    updates: Course | None = None
    episode_length: Course = field(default_factory=lambda: always(50.0))
    machine: Callable[[float], float] = field(default_factory=lambda: always(1.0))  # how slow it is, by seconds
    slices: int = 40
    startup: float = 2.0
    noise: float = 0.03
    seed: int = 0
    stacks: Mapping[str, tuple[tuple[FrameSpec, Course], ...]] = field(default_factory=dict)  # by phase, with weights

    def build(self) -> RecordingBuilder:
        random = np.random.default_rng(self.seed)
        builder = a_recording(seconds=self.startup + self.slices * SLICE)
        totals = dict.fromkeys(self.costs, 0.0)
        rows, counters = [], {"env_steps": [], "updates": [], "episodes": []}  # type: ignore[var-annotated]
        steps = 0.0
        for index in range(self.slices):
            at = self.startup + index * SLICE
            wobble = {name: self.machine(at) * float(np.exp(random.normal(0.0, self.noise))) for name in self.costs}
            each = {name: cost(steps) * self._calls(name, steps) * wobble[name] for name, cost in self.costs.items()}
            done = SLICE / sum(each.values())
            rows.append((at, steps, done, {name: each[name] * done for name in each}))
            counters["env_steps"].append((at, at + SLICE, done))
            counters["episodes"].append((at, at + SLICE, done / self.episode_length(steps)))
            if self.updates is not None:
                counters["updates"].append((at, at + SLICE, self.updates(steps) * done))
            for name, seconds in each.items():
                totals[name] += seconds * done
            steps += done
        builder.spans(*(span(name, self_seconds=total) for name, total in totals.items() if name != NO_SPAN))
        builder.slice_of_time(0.0, self.startup / 2, {NO_SPAN: self.startup / 2})
        builder.slice_of_time(self.startup / 2, self.startup, {NO_SPAN: self.startup / 2})
        for at, before, done, own in rows:
            calls = {name: round(self._calls(name, before) * done) for name in own}
            builder.slice_of_time(at, at + SLICE, own, self._samples(own, before), calls)
        for name, slices in counters.items():
            if slices:
                builder.counter_slices(name, slices)
        return builder

    def _calls(self, name: str, steps: float) -> float:
        return self.often.get(name, always(1.0))(steps)

    def _samples(self, own: Mapping[str, float], steps: float) -> list[tuple[str, int, tuple[FrameSpec, ...]]]:
        found = []
        for name, seconds in own.items():
            lines = self.stacks.get(name, ())
            whole = sum(weight(steps) for _, weight in lines)
            for frame, weight in lines:
                found.append((name, max(round(100 * seconds * weight(steps) / whole), 1), (frame,)))
        return found
