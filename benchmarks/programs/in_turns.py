"""Trains one of the programs bare and recorded in turns, inside one process."""

from __future__ import annotations

import argparse
import importlib
from functools import partial

from timed_loop import Work, take_turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--subproc", action="store_true")
    parser.add_argument("--steps", type=int, required=True, help="of a turn")
    parser.add_argument("--warm-up", type=int, required=True, help="steps before every turn, which are not timed")
    parser.add_argument("--rounds", type=int, required=True)
    args = parser.parse_args()
    made = importlib.import_module(args.program).Training
    training = made(True) if args.subproc else made()
    training.train(args.steps)  # what is imported and made when it is first needed
    work = Work(partial(training.train, args.steps), partial(training.train, args.warm_up))
    take_turns(work, work, args.rounds, probes=True)
    training.close()


if __name__ == "__main__":
    main()
