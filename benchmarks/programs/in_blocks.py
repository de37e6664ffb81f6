"""Trains one of the programs with recording switched on and off every quarter of a second or so, inside one process.

Blocks that follow each other so quickly meet the same machine, so their ratio says far more than that of whole turns.
The probes stay installed and the writer goes on in both: what those two take is not in the ratio. Prints JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from rlprof import get_profiler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--subproc", action="store_true")
    parser.add_argument("--steps", type=int, required=True, help="of a block")
    parser.add_argument("--pairs", type=int, required=True)
    args = parser.parse_args()
    made = importlib.import_module(args.program).Training
    training = made(True) if args.subproc else made()
    profiler = get_profiler()
    with tempfile.TemporaryDirectory() as folder:
        profiler.start(Path(folder) / "blocks.rlprof", probes=True)
        for _ in range(8):  # what is done when it is first needed, and rlprof gets used to the program
            seconds(training, args.steps)
        pairs = [pair(profiler, training, args.steps) for _ in range(args.pairs)]
        profiler.enable()
        profiler.stop()
        ledger = profiler.report().data.ledger
    training.close()
    booked = ledger.overhead_seconds / ledger.wall_seconds
    print(json.dumps({"on": [on for on, _ in pairs], "off": [off for _, off in pairs], "booked": booked}), flush=True)


def pair(profiler: Any, training: Any, steps: int) -> tuple[float, float]:
    took = {}
    for on in random.sample((True, False), 2):
        (profiler.enable if on else profiler.disable)()
        took[on] = seconds(training, steps)
    return took[True], took[False]


def seconds(training: Any, steps: int) -> float:
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.perf_counter()
        training.train(steps)
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
