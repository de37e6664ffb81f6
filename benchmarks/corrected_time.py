"""Does recording slow a program down, and does the corrected time come back to the bare one?

Each program runs bare, annotated but not recorded, and under `rlprof run` with sampler and memory on; the three take
turns. What is compared is the training loop's own duration, which the program measures itself: starting Python,
importing torch and printing the report are no training, and vary by more than the effect that is sought. The corrected
time is that duration less the overhead which the report of that very run gives. Recording is switched off outside the
loop, so that the report's overhead is the loop's own; the table shows how much recorded time lies outside it.

The probes are left out: both programs are annotated, and what is asked here is what the recorder, its sampler, writer
and memory readings cost, and whether the correction accounts for it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commands import checked, read_report, run_command, told_seconds
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

from rlprof.experiments.pairs import interleave, ratios, spread


@dataclass(frozen=True)
class Program:
    """How to run it bare, and how to run it annotated. For a program without a bare form the two are the same."""

    name: str
    file: Path
    annotated: list[str]
    bare: list[str] | None
    judged_by_speed: bool


@dataclass
class Runs:
    """Loop durations in seconds, pair by pair, and what the reports said of the recorded ones."""

    bare: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    recorded: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)

    @property
    def corrected(self) -> list[float]:
        return [seconds - overhead for seconds, overhead in zip(self.recorded, self.overhead, strict=True)]


def programs(quick: bool) -> list[Program]:
    iterations, turns = (8, 150) if quick else (60, 1500)
    here = HERE / "programs"
    heavy = ["--turns", str(turns)]
    return [
        Program("CartPole PPO", here / "ppo.py", ["--iterations", str(iterations)], None, True),
        Program("1 us of work per span", here / "span_heavy.py", heavy, [*heavy, "--bare"], False),
    ]


def run_plain(program: Program, arguments: list[str]) -> float:
    return told_seconds(checked([sys.executable, str(program.file), *arguments]).stdout)


def run_recorded(program: Program, directory: Path, runs: Runs) -> float:
    recording = directory / f"{program.file.stem}-{len(runs.overhead)}.rlprof"
    done = checked(run_command(recording, [str(program.file), *program.annotated, "--recorded"], ("--no-probes",)))
    seconds = told_seconds(done.stdout)
    ledger: dict[str, Any] = read_report(recording)["ledger"]
    recording.unlink()
    runs.overhead.append(ledger["overhead_seconds"])
    runs.error.append(ledger["overhead_error_seconds"])
    runs.outside.append(ledger["wall_seconds"] - seconds)
    return seconds


def measure_program(program: Program, pairs: int, directory: Path) -> Runs:
    say(f"{program.name}: {pairs} rounds ...")
    runs = Runs()
    turns: dict[str, Callable[[], float]] = {
        "off": lambda: run_plain(program, program.annotated),
        "recorded": lambda: run_recorded(program, directory, runs),
    }
    if program.bare is not None:
        bare = program.bare
        turns["bare"] = lambda: run_plain(program, bare)
    run_plain(program, program.annotated)  # fills the disk cache for everybody
    values = interleave(turns, pairs)
    runs.off, runs.recorded = values["off"], values["recorded"]
    runs.bare = values.get("bare", runs.off)
    return runs


def row(program: Program, runs: Runs) -> tuple[str, ...]:
    share = spread(ratios(runs.overhead, runs.recorded))
    return (
        program.name,
        spread(runs.bare).text(2, " s"),
        spread(ratios(runs.recorded, runs.bare)).text(3, "x"),
        f"{100 * share.median:.1f}%",
        f"{100 * spread(ratios(runs.error, runs.recorded)).median:.2f}%",
        f"{1e3 * spread(runs.outside).median:.0f} ms",
        spread(ratios(runs.corrected, runs.bare)).text(3, "x"),
        f"{100 * noise(runs.bare):.1f}%",
    )


def noise(values: list[float]) -> float:
    """How far runs of the same thing lie apart: half the interquartile range of the bare runs over their median."""
    ordered = sorted(values)
    n = len(ordered)
    return (ordered[(3 * n) // 4 if n > 1 else 0] - ordered[n // 4]) / 2 / spread(ordered).median


def check(result: Result, program: Program, runs: Runs) -> None:
    if program.judged_by_speed:
        speed = spread(ratios(runs.bare, runs.recorded))
        result.check_at_least(f"{program.name}: steps/s, recorded of bare", speed, 0.98, "x")
    away = spread([100 * (ratio - 1) for ratio in ratios(runs.corrected, runs.bare)])
    holds = abs(away.median) <= 2
    measured = away.text(2, "%")
    if (abs(away.low) <= 2 and abs(away.high) <= 2) != holds:
        measured += ", interval crosses the bar"
    result.check_true(f"{program.name}: corrected time, away from bare", "within 2%", measured, holds)


def main() -> int:
    parser: argparse.ArgumentParser = argument_parser(__doc__)
    parser.add_argument("--pairs", type=int, help="how often each form runs (10; quick: 3)")
    args = parser.parse_args()
    pairs = args.pairs or (3 if args.quick else 10)
    result = new_result("Corrected against bare time", args)
    rows, data = [], {}
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as directory:
        for program in programs(args.quick):
            runs = measure_program(program, pairs, Path(directory))
            rows.append(row(program, runs))
            check(result, program, runs)
            data[program.name] = {**vars(runs), "corrected": runs.corrected}
    columns = ("program", "bare", "recorded", "overhead", "its error", "outside", "corrected", "bare runs differ by")
    result.tables.append(Table(f"{pairs} interleaved rounds", columns, rows))
    result.notes.append("Recorded and corrected are multiples of the bare time; overhead is a share of the recorded.")
    result.notes.append("CartPole PPO bare is the same annotated file with recording off; the other has no annotation.")
    result.data = data
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
