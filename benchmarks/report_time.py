"""How long a report takes: from one hour of eight processes, and from the same hour with ten million events.

The recordings are made by a generator (synthetic.py) through rlprof's own writer. What is timed is the command a
person types, `rlprof report FILE --json -`, from the start of a fresh process to its end.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from commands import checked, rlprof_command
from measure import (
    Result,
    Table,
    argument_parser,
    differences,
    finish,
    new_result,
    run_script,
    say,
)
from synthetic import Shape, write_recording

from rlprof.experiments.pairs import Spread, interleave, spread

MB = 1_000_000


def seconds_of(command: list[str]) -> float:
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return perf_counter() - start


def check_report(recording: Path, processes: int) -> None:
    """Once, untimed: the report must be whole, or its time would mean nothing. It also warms the disk cache."""
    report = json.loads(checked([*rlprof_command(), "report", str(recording), "--json", "-"]).stdout)
    found = len(report["run"]["processes"])
    if found != processes:
        raise AssertionError(f"the report has {found} processes instead of {processes}")
    ledger = report["ledger"]
    total = sum(ledger[part] for part in ("attributed_seconds", "unattributed_seconds", "overhead_seconds"))
    if abs(total - ledger["wall_seconds"]) > 1e-3 * ledger["wall_seconds"]:
        raise AssertionError("the ledger of the generated recording does not close")


def fill(result: Result, recordings: dict[str, Path], rounds: int) -> None:
    commands = {name: [*rlprof_command(), "report", str(file), "--json", "-"] for name, file in recordings.items()}
    commands["rlprof --help, for the start alone"] = [*rlprof_command(), "--help"]
    turns: dict[str, Callable[[], float]] = {
        name: (lambda command=command: seconds_of(command))  # type: ignore[misc]
        for name, command in commands.items()
    }
    say(f"{rounds} rounds ...")
    values = interleave(turns, rounds)
    rows = []
    for name, these in values.items():
        file = recordings.get(name)
        size = f"{file.stat().st_size / MB:.1f} MB" if file else "-"
        beyond = spread(differences(these, values["rlprof --help, for the start alone"]))
        rows.append((name, size, spread(these).text(2, " s"), f"{beyond.median:.2f} s"))
    result.tables.append(Table("Fresh processes", ("report from", "file", "took", "beyond the start"), rows))
    found: list[Spread] = [spread(values[name]) for name in recordings]
    result.check_at_most("report, one hour of 8 processes", found[0], 2, " s")
    result.check_at_most("report, and 10 million events", found[1], 6, " s")
    result.data = {"seconds": values}


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="reports from each recording (9; quick: 3)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the recordings there and leave them")
    args = parser.parse_args()
    shapes = {"hour": Shape(), "events": Shape(events=10_000_000)}
    result = new_result("Time to report", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as scratch:
        directory = args.keep or Path(scratch)
        recordings = {}
        for name, shape in shapes.items():
            label = f"{shape.seconds / 60:.0f} minutes, {1 + shape.workers} processes"
            label += f", {shape.events:,} events" if shape.events else ""
            say(f"writing {label} ...")
            recordings[label] = write_recording(directory / f"{name}.rlprof", shape)
            check_report(recordings[label], 1 + shape.workers)
        fill(result, recordings, args.rounds or (3 if args.quick else 9))
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
