"""Programs that live side by side and run short units of work in turns, one at a time.

A machine that is shared with others changes its speed by a tenth and more from one second to the next. Whole runs,
one after the other, meet different weather; units of half a second, bare and recorded within the same second, meet the
same. Hundreds of such pairs show an effect of one part in a hundred that ten pairs of whole runs cannot.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType

from measure import CannotMeasure

from rlprof.experiments.pairs import interleave


class Worker:
    """A program that runs a unit for each line it is sent and answers with the seconds it took."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer("ready")

    def unit(self) -> float:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        return float(self._answer("seconds"))

    def _answer(self, key: str) -> float:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # a program may print other things, too
            if line.startswith(f'{{"{key}"'):
                return float(json.loads(line)[key])
        raise self._ended()

    def _ended(self) -> CannotMeasure:
        code = self._process.wait()
        return CannotMeasure(f"`{' '.join(self._command[-4:])}` ended with exit code {code}")

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for its end: what it recorded is whole only then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        code = self._process.wait()
        if error is None and code != 0:
            raise self._ended()


def run_in_lockstep(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every unit of every command, round by round. The first unit of each warms it up and is left out."""
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(command)) for name, command in commands.items()}
        return interleave({name: worker.unit for name, worker in workers.items()}, rounds + 1)
