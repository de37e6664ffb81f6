"""Steps per second of recorded copies of a process, of its bare ones' that take turns with them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from statistics import median

from commands import checked
from measure import CannotMeasure, say
from zero_code_programs import FOLDER, Program

#: Long enough that rlprof has got used to the program, and short enough that all of a round meet the same machine.
WARM_UP_SECONDS, BLOCK_SECONDS = 8.0, 0.25


@dataclass
class Copies:
    """Of each process that was copied, the median over its rounds: what is recorded of bare, and bare of bare."""

    recorded: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # a step of the bare ones takes

    def add(self, output: str) -> None:
        rounds = [json.loads(line) for line in output.splitlines() if line.startswith('{"round"')]
        if not rounds:
            raise CannotMeasure("the program did not say how long its blocks took")
        bare = [(each["bare"] + each["bare again"]) / 2 for each in rounds]
        self.recorded.append(median(b / each["recorded"] for b, each in zip(bare, rounds, strict=True)))
        self.again.append(median(each["bare"] / each["bare again"] for each in rounds))
        self.seconds.append(median(bare))


def measure_copies(program: Program, processes: int, rounds: int) -> Copies:
    copies = Copies()
    for number in range(processes):
        say(f"{program.name}: copies of a process, {number + 1} of {processes}, {rounds} rounds ...")
        command = [sys.executable, str(FOLDER / "in_forks.py"), program.module, *program.arguments(program.block)]
        times = ["--block-seconds", str(BLOCK_SECONDS), "--warm-up-seconds", str(WARM_UP_SECONDS)]
        copies.add(checked([*command, *times, "--rounds", str(rounds)]).stdout)
    return copies
