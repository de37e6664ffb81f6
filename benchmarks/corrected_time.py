"""Does recording slow a program down, and does the corrected time come back to the bare one?

Each program runs in three forms at once: bare, under `rlprof run` with everything on that is on by default, and under
`rlprof run --no-probes`. They take turns, a unit of about half a second each, and each says how long its own unit took:
starting Python, importing torch and printing the report are no training. All forms are started anew several times,
because two processes of the same program can differ for as long as they live. The corrected time is the recorded
one less the overhead that the report of that very run gives. Recording is off between units, so that the report's
overhead is that of the units.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commands import read_report, run_command
from lockstep import run_in_lockstep
from measure import (
    HERE,
    Result,
    Table,
    argument_parser,
    finish,
    new_result,
    run_script,
    say,
)

from rlprof.experiments.pairs import ratios, spread

FORMS = {"rlprof run": (), "rlprof run --no-probes": ("--no-probes",)}


@dataclass(frozen=True)
class Program:
    name: str
    file: Path
    arguments: list[str]
    bare: list[str]  # beside the arguments, to be run with no recorder
    judged_by_speed: bool


@dataclass
class Form:
    """Unit by unit: seconds recorded, and without the overhead that the report of the same process gives."""

    recorded: list[float] = field(default_factory=list)
    corrected: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)  # as shares, one for each process
    error: list[float] = field(default_factory=list)

    def add(self, bare: list[float], recorded: list[float], ledger: dict[str, Any]) -> None:
        total = sum(recorded)
        share = ledger["overhead_seconds"] / total
        self.overhead.append(share)
        self.error.append(ledger["overhead_error_seconds"] / total)
        # The first unit warms up; its cost is in the report like any other's.
        self.bare += bare[1:]
        self.recorded += recorded[1:]
        self.corrected += [seconds * (1 - share) for seconds in recorded[1:]]


def programs() -> list[Program]:
    here = HERE / "programs"
    return [
        Program("CartPole PPO", here / "ppo.py", ["--in-turns", "--iterations", "3"], [], True),
        Program("1 us of work per span", here / "span_heavy.py", ["--turns", "60"], ["--bare"], False),
    ]


def measure_program(program: Program, processes: int, rounds: int, directory: Path) -> dict[str, Form]:
    forms = {name: Form() for name in FORMS}
    for number in range(processes):
        say(f"{program.name}: process {number + 1} of {processes}, {rounds} rounds ...")
        script = [str(program.file), *program.arguments]
        recordings = {name: directory / f"{program.file.stem}-{number}-{i}.rlprof" for i, name in enumerate(FORMS)}
        commands = {"bare": [sys.executable, *script, *program.bare]}
        for name, options in FORMS.items():
            commands[name] = run_command(recordings[name], [*script, "--recorded"], options)
        seconds = run_in_lockstep(commands, rounds)
        for name, form in forms.items():
            form.add(seconds["bare"], seconds[name], read_report(recordings[name])["ledger"])
            recordings[name].unlink()
    return forms


def row(program: Program, name: str, form: Form) -> tuple[str, ...]:
    return (
        f"{program.name}, {name}",
        spread(form.bare).text(3, " s"),
        spread(ratios(form.recorded, form.bare)).text(3, "x"),
        f"{100 * spread(form.overhead).median:.1f}%",
        f"{100 * spread(form.error).median:.2f}%",
        spread(ratios(form.corrected, form.bare)).text(3, "x"),
        f"{100 * noise(ratios(form.recorded, form.bare)):.1f}%",
    )


def noise(values: list[float]) -> float:
    """How far single pairs lie apart: half the interquartile range over the median."""
    ordered = sorted(values)
    n = len(ordered)
    return (ordered[(3 * n) // 4 if n > 1 else 0] - ordered[n // 4]) / 2 / spread(ordered).median


def check(result: Result, program: Program, name: str, form: Form) -> None:
    if program.judged_by_speed:
        speed = spread(ratios(form.bare, form.recorded))
        result.check_at_least(f"{program.name}, {name}: steps/s, recorded of bare", speed, 0.98, "x")
    away = spread([100 * (ratio - 1) for ratio in ratios(form.corrected, form.bare)])
    holds = abs(away.median) <= 2
    measured = away.text(2, "%")
    if (abs(away.low) <= 2 and abs(away.high) <= 2) != holds:
        measured += ", interval crosses the bar"
    result.check_true(f"{program.name}, {name}: corrected time, away from bare", "within 2%", measured, holds)


def main() -> int:
    parser: argparse.ArgumentParser = argument_parser(__doc__)
    parser.add_argument("--processes", type=int, help="how often all forms are started anew (6; quick: 1)")
    parser.add_argument("--rounds", type=int, help="units of each form in each process (50; quick: 20)")
    args = parser.parse_args()
    processes = args.processes or (1 if args.quick else 6)
    rounds = args.rounds or (20 if args.quick else 50)
    result = new_result("Corrected against bare time", args)
    rows, data = [], {}
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as directory:
        for program in programs():
            for name, form in measure_program(program, processes, rounds, Path(directory)).items():
                rows.append(row(program, name, form))
                check(result, program, name, form)
                data[f"{program.name}, {name}"] = vars(form)
    columns = ("program", "bare unit", "recorded", "overhead", "its error", "corrected", "pairs differ by")
    result.tables.append(Table(f"{processes} times {rounds} units of each form, in turns", columns, rows))
    result.notes.append("Recorded and corrected are multiples of the bare time; overhead is a share of the recorded.")
    result.notes.append("CartPole PPO bare is the same annotated file with recording off; the other has no annotation.")
    result.data = data
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
