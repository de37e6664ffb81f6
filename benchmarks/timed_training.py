"""Training a demo program in a process of its own, which is ended with all of its children when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from measure import CannotMeasure

#: What the process does: the program's own output goes to nobody, and imports are not in the time.
CHILD: Final = """
import contextlib, importlib, io, json, sys, time
program = importlib.import_module(sys.argv[1])
options = program.parse(sys.argv[2:])
start = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    done = program.train(options)
print(json.dumps([time.perf_counter() - start, done.steps]))
"""


def train(module: str, words: Sequence[str], limit: float) -> tuple[float, int]:
    """Seconds and env steps of one training. Above `limit` seconds, start and end included, it is given up."""
    command = [sys.executable, "-c", CHILD, module, *words]
    shown = " ".join(["python", "-m", module, *words])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise CannotMeasure(f"{shown} did not end within {limit:g} s; it and its children were ended") from None
        finally:
            # Workers that outlive the program, and all of it when the benchmark itself is interrupted.
            end_group(process.pid)
    if process.returncode != 0:
        said = err.strip().splitlines()
        raise CannotMeasure(f"{shown} failed with {process.returncode}: {said[-1] if said else 'nothing was said'}")
    seconds, steps = json.loads(out.splitlines()[-1])
    return float(seconds), int(steps)


def end_group(leader: int) -> None:
    """End every process of the group that a process leads, as long as there are any."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
