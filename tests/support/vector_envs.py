"""Synthetic recordings of a vector environment: a parent that sends and waits, and workers that simulate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlprof.model.recording import Recording
from rlprof.model.stretch_kinds import SENT, SIMULATED, WAITED
from support.recordings import FACTS, SECOND, START_NS, FrameSpec, a_child, a_recording, span

Stack = tuple[int, tuple[FrameSpec, ...]]
Stretch = tuple[int, int]  # begin and duration, in nanoseconds since the recording began


@dataclass(frozen=True)
class Step:
    """One step: what the parent sent and waited, and what each worker simulated meanwhile."""

    sent: Stretch
    waited: Stretch
    workers: tuple[tuple[Stretch, ...], ...]


def recording_of(
    steps: Sequence[Step], *, seconds: float = 10.0, unnoted: int = 0, stacks: Sequence[Stack] = (), **fact: Any
) -> Recording:
    """All steps are noted; `unnoted` ones are only counted, each as long as the mean of the others.

    In each worker `stacks` were sampled so many times.
    """
    count = len(steps[0].workers)
    sent, waited = sum(s.sent[1] for s in steps), sum(s.waited[1] for s in steps)
    number = len(steps) + unnoted
    total = (sent + waited) * number // len(steps)
    pids = [4243 + index for index in range(count)]
    env = {"name": "SubprocVecEnv", "pids": pids, "steps": number, "total_ns": total, **fact}
    main = a_recording(seconds, facts={**FACTS, "vector_envs": [env]}).counter("env_steps", number * count)
    waiting = span("env.wait", count=number, self_ns=waited * number // len(steps), phase="env.wait")
    sending = span("env.ipc", count=number, self_ns=sent * number // len(steps), phase="env.ipc")
    main.spans(span("env.step", sending, waiting, count=number, self_seconds=0.01, phase="env.step"))
    for step in steps:
        main.stretch_rows += [(SENT, 0, START_NS + step.sent[0], step.sent[1])]
        main.stretch_rows += [(WAITED, 0, START_NS + step.waited[0], step.waited[1])]
    for index in range(count):
        own = [stretch for step in steps for stretch in step.workers[index]]
        simulated = sum(duration for _, duration in own) * number // len(steps)
        fact = {
            "steps": number,
            "total_ns": simulated,
            "first_ns": START_NS + min((begin for begin, _ in own), default=0),
            "last_ns": START_NS + max((begin + duration for begin, duration in own), default=0) * number // len(steps),
            "core_wait_ns": round(0.02 * SECOND),
        }
        worker = a_child(seconds, facts={**FACTS, "vector_worker": fact})
        worker.spans(span("env.step", count=number, self_ns=simulated, phase="env.step"))
        for times, stack in stacks:
            worker.sample("env.step", times, *stack)
        worker.stretch_rows += [(SIMULATED, 0, START_NS + begin, duration) for begin, duration in own]
        main.child(worker)
    return main.build()


def vector_recording() -> Recording:
    """Two workers, of which one takes three times as long; half of 1,000 steps are noted."""
    steps = []
    for index in range(500):
        at, slow = index * 10_000_000, 3_000_000 + 10_000 * (index % 7)
        workers = (((at + 150_000, slow),), ((at + 350_000, 1_000_000),))
        steps.append(Step((at, 300_000), (at + 310_000, 3_690_000), workers))
    return recording_of(steps, unnoted=500)
