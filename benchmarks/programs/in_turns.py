"""Trains one of the programs bare and recorded in turns, inside one process."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import time
from functools import partial
from typing import Any

from timed_loop import Work, take_turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--subproc", action="store_true")
    parser.add_argument("--steps", type=int, required=True, help="what a turn is a multiple of")
    parser.add_argument("--seconds", type=float, required=True, help="of a turn, about; half of it is warming up")
    parser.add_argument("--rounds", type=int, required=True)
    args = parser.parse_args()
    made = importlib.import_module(args.program).Training
    training = made(True) if args.subproc else made()
    a_second = steps_in_a_second(training, args.steps)
    turn = args.steps * max(1, round(args.seconds * a_second / args.steps))
    warm_up = args.steps * max(1, round(args.seconds / 2 * a_second / args.steps))
    work = Work(partial(training.train, turn), partial(training.train, warm_up))
    take_turns(work, work, args.rounds, probes=True)
    training.close()


def steps_in_a_second(training: Any, steps: int) -> float:
    """The first call is not timed: what is imported and made when it is first needed."""
    with contextlib.redirect_stdout(io.StringIO()):
        training.train(steps)
        began = time.perf_counter()
        for _ in range(3):
            training.train(steps)
        return 3 * steps / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
