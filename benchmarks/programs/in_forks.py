"""Trains one of the programs in several processes that take turns: bare, bare again, and recorded.

All of them are forked from one that has imported and built everything, so they begin as copies of each other; and each
lives on from its first block to its last, so what is recorded is one long run, as a user's is. Only one of them trains
at a time. The second bare one says how far two equal processes are apart. Prints JSON, a line for each round.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import socket
import tempfile
import time
from pathlib import Path
from typing import Any, Final

BARE, AGAIN, RECORDED = FORMS = ("bare", "bare again", "recorded")
WARM_UP: Final = b"w"
BLOCK: Final = b"b"
END: Final = b"e"


class Work:
    """A program's training, block by block. One with environments in processes is built where it is used."""

    def __init__(self, module: str, *, subproc: bool, steps: int, seconds: float) -> None:
        self._made = importlib.import_module(module).Training
        self._subproc = subproc
        self._steps = steps
        self._seconds = seconds
        self._block = steps
        self._training: Any = None if subproc else self._made()

    def warm_up(self) -> float:
        """The same as `train`; the next block is of as many steps as would have taken about what was asked for."""
        if self._training is None:
            self._training = self._made(True)
        step = self.train()
        self._block = self._steps * max(1, round(self._seconds / (step * self._steps)))
        return step

    def train(self) -> float:
        """Seconds that a step of a block took."""
        return _seconds(self._training, self._block) / self._block

    def close(self) -> None:
        if self._training is not None:
            self._training.close()


class Child:
    """A process that trains a block when it is asked to."""

    def __init__(self, work: Work, *, recorded: bool) -> None:
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            status = 1
            try:
                _serve(theirs, work, recorded=recorded)
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        self._socket = ours
        self._answers = ours.makefile()

    def seconds(self, what: bytes = BLOCK) -> float:
        """What a step takes, on average of a block."""
        self._socket.sendall(what)
        return float(self._answers.readline())

    def end(self) -> dict[str, Any]:
        self._socket.sendall(END)
        told: dict[str, Any] = json.loads(self._answers.readline())
        os.waitpid(self.pid, 0)
        return told


def _serve(wire: socket.socket, work: Work, *, recorded: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as folder:
        profiler: Any = None
        if recorded:  # the bare ones have nothing of rlprof in them, not even its modules
            from rlprof import get_profiler

            profiler = get_profiler()
            profiler.start(Path(folder) / "forks.rlprof", probes=True)
        while (asked := wire.recv(1)) != END:
            wire.sendall(b"%r\n" % (work.warm_up() if asked == WARM_UP else work.train()))
        work.close()
        told = {}
        if profiler is not None:
            profiler.stop()
            ledger = profiler.report().data.ledger
            told = {"wall": ledger.wall_seconds, "booked": ledger.overhead_seconds}
        wire.sendall(json.dumps(told).encode() + b"\n")


def _seconds(training: Any, steps: int) -> float:
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.perf_counter()
        training.train(steps)
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--subproc", action="store_true")
    parser.add_argument("--steps", type=int, required=True, help="what a block is a multiple of")
    parser.add_argument("--block-seconds", type=float, required=True, help="of a block, about")
    parser.add_argument("--warm-up-seconds", type=float, required=True, help="of each process, before the first round")
    parser.add_argument("--rounds", type=int, required=True)
    args = parser.parse_args()
    work = Work(args.program, subproc=args.subproc, steps=args.steps, seconds=args.block_seconds)
    children = {form: Child(work, recorded=form == RECORDED) for form in FORMS}
    for child in children.values():
        until = time.perf_counter() + args.warm_up_seconds
        while time.perf_counter() < until:
            child.seconds(WARM_UP)
    for number in range(args.rounds):
        told = {form: children[form].seconds() for form in random.sample(FORMS, len(FORMS))}
        print(json.dumps({"round": number, **told}), flush=True)
    print(json.dumps({form: child.end() for form, child in children.items()}), flush=True)


if __name__ == "__main__":
    main()
