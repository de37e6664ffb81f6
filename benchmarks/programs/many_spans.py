"""Opens and closes spans as fast as it can, and says how many: the program that many_spans.py records."""

from __future__ import annotations

import argparse
import json
import os
import threading
import time

from rlprof import count, iteration, profile

#: With the two spans around them, 32 paths in each thread: as many as a thoroughly annotated program has.
NAMES = tuple(f"operation_{i}" for i in range(30))
ROUNDS_PER_TURN = 200
SPANS_PER_TURN = 2 + ROUNDS_PER_TURN * len(NAMES)


def turn() -> None:
    """One turn of a training loop that does nothing but report itself."""
    with profile("rollout"), profile("steps", phase="env.step"):
        for _ in range(ROUNDS_PER_TURN):
            for name in NAMES:
                with profile(name):
                    pass
    count("env_steps", ROUNDS_PER_TURN)


def spans_until(spans: int, deadline: float, turns_iteration: bool) -> int:
    """At least so many spans, and at least until the deadline. Only one thread turns the iterations."""
    made = 0
    while made < spans or time.monotonic() < deadline:
        if turns_iteration:
            iteration()
        turn()
        made += SPANS_PER_TURN
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spans", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    # The one who watches this process's memory needs its id, whatever started it.
    print(json.dumps({"pid": os.getpid()}), flush=True)
    made = [0] * args.threads
    started = time.monotonic()

    def work(index: int) -> None:
        made[index] = spans_until(args.spans // args.threads, started + args.seconds, index == 0)

    helpers = [threading.Thread(target=work, args=(index,)) for index in range(1, args.threads)]
    for helper in helpers:
        helper.start()
    work(0)
    for helper in helpers:
        helper.join()
    print(json.dumps({"emitted": sum(made), "seconds": time.monotonic() - started}), flush=True)


if __name__ == "__main__":
    main()
