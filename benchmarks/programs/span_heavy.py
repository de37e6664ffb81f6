"""A loop with about a microsecond of work in each span: so finely annotated that the recorder's cost is a large part.

The bare form does the same work with no annotation at all, which is the truth that a corrected time must come near.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from timed_loop import Work, take_turns

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


def repeated(turn: Callable[[], None], times: int) -> None:
    for _ in range(times):
        turn()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=20, help="run bare and recorded in turns, so many times")
    args = parser.parse_args()
    bare, recorded = (
        Work(partial(repeated, turn, args.turns), partial(repeated, turn, args.turns // 5))
        for turn in (bare_turn, annotated_turn)
    )
    take_turns(bare, recorded, args.rounds, probes=False)


if __name__ == "__main__":
    main()
