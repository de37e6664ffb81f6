"""Times a program's training loop by itself, or bare and recorded in turns."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rlprof import get_profiler


@contextmanager
def timed_loop(steps: int) -> Iterator[None]:
    """Time the block and tell its duration to whoever reads the output."""
    start = time.perf_counter()
    yield
    print(json.dumps({"seconds": time.perf_counter() - start, "steps": steps}), flush=True)


def take_turns(bare: Callable[[], object], recorded: Callable[[], object], rounds: int, *, probes: bool) -> None:
    """Run both once a round, the one with no recorder in the process, and tell how long each took.

    What is measured is the work alone: starting a recording, stopping it and reading what it says of its own cost
    happen between. Each form goes first every other time. The first round warms up and is not told.
    """
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as directory:
        for number in range(rounds + 1):
            told: dict[str, float] = {}
            for form in ("bare", "recorded") if number % 2 else ("recorded", "bare"):
                if form == "bare":
                    told["bare"] = _seconds(bare)
                else:
                    told |= _recorded(recorded, Path(directory) / f"{number}.rlprof", probes)
            if number:
                print(json.dumps({"round": number, **told}), flush=True)


def _recorded(work: Callable[[], object], file: Path, probes: bool) -> dict[str, float]:
    get_profiler().start(file, probes=probes)
    seconds = _seconds(work)
    get_profiler().disable()
    get_profiler().stop()
    ledger = get_profiler().report().data.ledger
    file.unlink()
    return {
        "recorded": seconds,
        "overhead": ledger.overhead_seconds,
        "error": ledger.overhead_error_seconds,
        "outside": ledger.wall_seconds - seconds,
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
