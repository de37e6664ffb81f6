"""Does recording slow a program down, and does the corrected time come back to the bare one?

A machine that is shared with others changes its speed by a tenth and more from one second to the next, and two
processes of the same program can differ by as much for as long as they live. So each program runs bare and recorded in
turns of half a second inside one process. In bare turns the recording is disabled and the libraries are put back as
they were; in the others sampler, memory, writer and probes are on, as by default. All of it is done in several
processes, and the pairs of all of them are put together. Starting Python, importing torch, beginning a recording and
printing a report are no training and not part of a turn.

The corrected time is the recorded one less the overhead which the report of the same process gives.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from commands import checked
from measure import (
    HERE,
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    finish,
    new_result,
    run_script,
    say,
)

from rlprof.experiments.pairs import ratios, spread


@dataclass(frozen=True)
class Program:
    name: str
    file: Path
    arguments: tuple[str, ...]
    judged_by_speed: bool


PROGRAMS = (
    Program("CartPole PPO", HERE / "programs" / "ppo.py", ("--iterations", "4"), True),
    Program("CartPole PPO, no probes", HERE / "programs" / "ppo.py", ("--iterations", "4", "--no-probes"), True),
    Program("1 us of work per span", HERE / "programs" / "span_heavy.py", ("--turns", "60"), False),
)


@dataclass
class Turns:
    """Seconds, pair by pair, and as shares of the recorded time what each process's report said of its own cost."""

    bare: list[float] = field(default_factory=list)
    recorded: list[float] = field(default_factory=list)
    corrected: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)

    def add(self, output: str) -> None:
        told = [json.loads(line) for line in output.splitlines() if line.startswith(('{"round"', '{"own"'))]
        if not told or "own" not in told[-1]:
            raise CannotMeasure("the program did not say how long its turns took")
        own = told.pop()["own"]
        self.overhead.append(own["overhead"])
        self.error.append(own["error"])
        for values in told:
            self.bare.append(values["bare"])
            self.recorded.append(values["recorded"])
            self.corrected.append(values["recorded"] * (1 - own["overhead"]))


def measure_program(program: Program, processes: int, rounds: int) -> Turns:
    turns = Turns()
    for number in range(processes):
        say(f"{program.name}: process {number + 1} of {processes}, {rounds} pairs ...")
        command = [sys.executable, str(program.file), *program.arguments, "--rounds", str(rounds)]
        turns.add(checked(command).stdout)
    return turns


def row(program: Program, turns: Turns) -> tuple[str, ...]:
    return (
        program.name,
        spread(turns.bare).text(3, " s"),
        spread(ratios(turns.recorded, turns.bare)).text(3, "x"),
        f"{100 * spread(turns.overhead).median:.2f}%",
        f"{100 * spread(turns.error).median:.2f}%",
        spread(ratios(turns.corrected, turns.bare)).text(3, "x"),
        f"{100 * noise(ratios(turns.recorded, turns.bare)):.1f}%",
    )


def noise(values: list[float]) -> float:
    """How far single pairs lie apart: half the interquartile range over the median."""
    ordered = sorted(values)
    n = len(ordered)
    return (ordered[(3 * n) // 4 if n > 1 else 0] - ordered[n // 4]) / 2 / spread(ordered).median


def check(result: Result, program: Program, turns: Turns) -> None:
    if program.judged_by_speed:
        speed = spread(ratios(turns.bare, turns.recorded))
        result.check_at_least(f"{program.name}: steps/s, recorded of bare", speed, 0.98, "x")
    away = spread([100 * (ratio - 1) for ratio in ratios(turns.corrected, turns.bare)])
    holds = abs(away.median) <= 2
    measured = away.text(2, "%")
    if (abs(away.low) <= 2 and abs(away.high) <= 2) != holds:
        measured += ", interval crosses the bar"
    result.check_true(f"{program.name}: corrected time, away from bare", "within 2%", measured, holds)


def main() -> int:
    parser: argparse.ArgumentParser = argument_parser(__doc__)
    parser.add_argument("--processes", type=int, help="how many processes run each program (4; quick: 1)")
    parser.add_argument("--rounds", type=int, help="pairs in each process (40; quick: 15)")
    args = parser.parse_args()
    processes = args.processes or (1 if args.quick else 4)
    rounds = args.rounds or (15 if args.quick else 40)
    result = new_result("Corrected against bare time", args)
    rows, data = [], {}
    for program in PROGRAMS:
        turns = measure_program(program, processes, rounds)
        rows.append(row(program, turns))
        check(result, program, turns)
        data[program.name] = vars(turns)
    columns = ("program", "bare turn", "recorded", "overhead", "its error", "corrected", "pairs differ by")
    result.tables.append(Table(f"{processes} processes, {rounds} pairs in each", columns, rows))
    result.notes.append("Recorded and corrected are multiples of the bare time; overhead is a share of the recorded.")
    result.notes.append("CartPole PPO bare is the same annotated file with recording off; the other has no annotation.")
    result.data = data
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
