"""The program that `rlprof selftest` records: work of known length, timed by itself, with one child process."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time

from rlprof import count, iteration, profile, profile_function

ITERATIONS = 10
STEPS = 40
STEP_SECONDS = 0.002
CHILD_SPANS = 25
ALLOCATED_BYTES = 64_000_000


def work(seconds: float) -> float:
    """Keep the processor busy for that long; how long it was."""
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        pass
    return time.perf_counter() - started


@profile_function("learn", phase="learn.backward")
def learn() -> float:
    return work(0.02)


def child() -> None:
    for _ in range(CHILD_SPANS):
        with profile("child_work", phase="env.step"):
            work(0.001)


def main() -> None:
    timed = {"step": 0.0, "learn": 0.0}
    for _ in range(ITERATIONS):
        iteration()
        for _ in range(STEPS):
            with profile("step", phase="env.step"):
                timed["step"] += work(STEP_SECONDS)
            count("env_steps")
        timed["learn"] += learn()
    with profile("allocate", track_memory=True):
        block = bytearray(ALLOCATED_BYTES)
        del block
    process = multiprocessing.Process(target=child)
    process.start()
    process.join()
    json.dump(timed, sys.stdout)


if __name__ == "__main__":
    main()
