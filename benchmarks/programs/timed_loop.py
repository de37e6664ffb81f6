"""Times a program's training loop by itself, or bare and recorded in turns."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rlprof import get_profiler
from rlprof.probes.install import Probes
from rlprof.record.options import Options


@contextmanager
def timed_loop(steps: int) -> Iterator[None]:
    """Time the block and tell its duration to whoever reads the output."""
    start = time.perf_counter()
    yield
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)


class Work(NamedTuple):
    """One turn of a program, and a smaller piece of the same work: code runs slower for a moment after it changed."""

    turn: Callable[[], object]
    warm_up: Callable[[], object]


def take_turns(bare: Work, recorded: Work, rounds: int, *, probes: bool) -> None:
    """Run both once a round in this process, and tell how long each took; each goes first every other time.

    One recording goes on all the time, as in a long training. In bare turns it is disabled, which stops its sampler,
    and the libraries are put back as they were. The first round warms up and is not told.
    """
    profiler = get_profiler()
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as directory:
        profiler.start(Path(directory) / "turns.rlprof")
        profiler.disable()
        for number in range(rounds + 1):
            told: dict[str, float] = {}
            for form in ("bare", "recorded") if number % 2 else ("recorded", "bare"):
                told[form] = _seconds(bare) if form == "bare" else _recorded_seconds(recorded, probes)
            if number:
                print(json.dumps({"round": number, **told}), flush=True)
        profiler.stop()
        ledger = profiler.report().data.ledger
    share = {"overhead": ledger.overhead_seconds, "error": ledger.overhead_error_seconds}
    print(json.dumps({"own": {name: value / ledger.wall_seconds for name, value in share.items()}}), flush=True)


def _recorded_seconds(work: Work, probes: bool) -> float:
    armed = Probes(Options()) if probes else None
    if armed is not None:
        armed.start()
    get_profiler().enable()
    seconds = _seconds(work)
    get_profiler().disable()
    if armed is not None:
        armed.stop()
    return seconds


def _seconds(work: Work) -> float:
    work.warm_up()
    start = time.perf_counter()
    work.turn()
    return time.perf_counter() - start
