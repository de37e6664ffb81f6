"""A loop with about a microsecond of work in each span: so finely annotated that the recorder's cost is a large part.

`--bare` runs the same work with no annotation at all, which is the truth that a corrected time must come near.
"""

from __future__ import annotations

import argparse

from timed_loop import LoopClock

from rlprof import count, iteration, profile, profile_function

STEPS_PER_TURN = 2000


def work() -> int:
    """About a microsecond of plain Python."""
    total = 0
    for i in range(36):
        total += i * i
    return total


def store() -> int:
    return work()


@profile_function("store", phase="buffer.add")
def annotated_store() -> int:
    return work()


def bare_turn() -> None:
    for _ in range(STEPS_PER_TURN):
        work()
        work()
        store()


def annotated_turn() -> None:
    iteration()
    with profile("rollout"):
        for _ in range(STEPS_PER_TURN):
            with profile("act", phase="policy.forward"):
                work()
                with profile("env_step", phase="env.step"):
                    work()
            annotated_store()
    count("env_steps", STEPS_PER_TURN)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--recorded", action="store_true", help="under `rlprof run`: record the loop alone")
    args = parser.parse_args()
    clock = LoopClock(args.recorded)
    turn = bare_turn if args.bare else annotated_turn

    def unit() -> None:
        for _ in range(args.turns):
            turn()

    turn()
    clock.take_turns(unit, args.turns * STEPS_PER_TURN)


if __name__ == "__main__":
    main()
