"""The demo `cyber`, swept over environments and backends; then two cures of it, predicted and measured.

The sweep says which setting is fastest and confirms that against its neighbours. Then the program with two environments
in one process is held against two changes. What each should bring is read from the what-if of a recording of the
program as it is: stepping in two processes makes env.step twice as fast at most on two cores, and a simulator on NumPy
arrays makes it free at most, with the garbage that the objects of the other one leave.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import (
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    facts_line,
    finish,
    markdown_table,
    new_result,
    run_script,
)
from run_all import put_into

CYBER = ("-m", "rlprof.demos.cyber", "--steps", "2000", "--batch", "500")
PARAMETERS = {"envs": "1,2,4,8", "backend": "serial,subproc,async"}
BASE = ("--envs", "2")


@dataclass(frozen=True)
class Cure:
    """A change, and which what-ifs of the program as it is say what it should bring: phases with their speed-up."""

    name: str
    words: tuple[str, ...]
    what_if: dict[str, float | None]  # None: the phase were free


CURES = (
    Cure("async stepping", ("--backend", "async"), {"env.step": 2.0}),
    Cure("NumPy simulator", ("--simulator", "numpy"), {"env.step": None, "gc": None}),
)


def rlprof(*words: str) -> str:
    """What the command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "rlprof", *words],
        env={**os.environ, "COLUMNS": "110"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotMeasure(f"rlprof {words[0]} ended with {done.returncode}")
    return done.stdout


def sweep(directory: Path, args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Run what is missing; the result as data, and as it reads on a terminal."""
    where = directory / "sweep"
    file = directory / "sweep.json"
    options = ["--runs", str(args.runs), "--json", str(file), *(["--budget", args.budget] if args.budget else [])]
    options += ["--confirm-runs", str(args.confirm)] if args.confirm else []
    if (where / "experiment.json").exists():
        said = rlprof("sweep", "--resume", str(where), *options)
    else:
        knobs = [word for name, values in PARAMETERS.items() for word in ("-p", f"{name}={values}")]
        program = [*CYBER, *(word for name in PARAMETERS for word in (f"--{name}", f"{{{name}}}"))]
        said = rlprof("sweep", *knobs, *options, "--seed", "1", "--out", str(where), "--", *program)
    return json.loads(file.read_text(encoding="utf-8")), said


def measure(cure: Cure, directory: Path, args: argparse.Namespace) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The change against the program as it is, and the what-ifs of the latter's recordings."""
    where, file = directory / cure.name.replace(" ", "-"), directory / f"{cure.name.replace(' ', '-')}.json"
    base = " ".join((*CYBER, *BASE))
    if (where / "experiment.json").exists():
        words = ["--resume", str(where)]
    else:
        words = ["--a", base, "--b", f"{base} {' '.join(cure.words)}", "--out", str(where), "--seed", "1"]
    rlprof("compare", *words, "--runs", str(args.pairs), "--json", str(file))
    found = json.loads(file.read_text(encoding="utf-8"))
    recordings = sorted(where.glob("a-*.rlprof"))
    reports = [json.loads(rlprof("report", str(recording), "--json", "-")) for recording in recordings]
    return found, [report["whatif"] for report in reports]


def predicted(cure: Cure, whatifs: list[Any]) -> tuple[float, float, float]:
    """What the cure should bring by Amdahl: in the typical run, in the least hopeful, in the most hopeful."""
    left = []
    for entries in whatifs:
        known = {(entry["phase"], entry["speedup"]): entry["sps_ratio"] for entry in entries}
        ratios = [known.get((phase, speedup), 1.0) for phase, speedup in cure.what_if.items()]
        left.append(1 - sum(1 - 1 / ratio for ratio in ratios))
    left.sort(reverse=True)
    return 1 / left[len(left) // 2], 1 / left[0], 1 / left[-1]


def fill(result: Result, directory: Path, args: argparse.Namespace) -> Table:
    rows = []
    for cure in CURES:
        found, whatifs = measure(cure, directory, args)
        overall = found["overall"]
        said = ", ".join(f"{phase} {f'{by:g}x' if by else 'free'}" for phase, by in cure.what_if.items())
        point, low, high = predicted(cure, whatifs)
        rows.append(
            (
                f"{cure.name}: `{' '.join(cure.words)}`",
                said,
                f"{point:.2f} [{low:.2f}, {high:.2f}]",
                f"{overall['ratio']:.2f} [{overall['low'] or 0:.2f}, {overall['high'] or 0:.2f}]",
                str(found["pairs"]),
                overall["verdict"],
            )
        )
        result.data[cure.name] = {"comparison": found, "whatif": whatifs}
    columns = ("change", "what if", "predicted", "measured", "pairs", "verdict")
    title = "cyber with two environments in one process: times as fast, predicted from its recordings and measured"
    return Table(title, columns, rows)


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep trials there, and go on with what is there")
    parser.add_argument("--runs", type=int, help="rounds of the sweep (5; quick: 1)")
    parser.add_argument("--pairs", type=int, help="of each change, at most (8; quick: 2)")
    parser.add_argument("--budget", metavar="S", help="of the sweep, as for rlprof sweep")
    parser.add_argument(
        "--confirm", type=int, metavar="N", help="so many pairs of the best setting and its neighbours, at most"
    )
    parser.add_argument("--no-cures", action="store_true", help="only the sweep")
    parser.add_argument("--docs", type=Path, help="put the result between the marks of this page")
    args = parser.parse_args()
    args.runs = args.runs or (1 if args.quick else 5)
    args.pairs = args.pairs or (2 if args.quick else 8)
    result = new_result("Cyber, swept", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-cyber-") as scratch:
        directory = args.out.resolve() if args.out else Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        found, said = sweep(directory, args)
        result.data["sweep"] = found
        if not args.no_cures:
            result.tables.append(fill(result, directory, args))
    if args.docs:
        shown = "\n".join(line.rstrip() for line in said.strip().splitlines())
        tables = "\n\n".join(markdown_table(table) for table in result.tables)
        put_into(args.docs, f"Measured on: {facts_line(result.machine)}.\n\n```text\n{shown}\n```\n\n{tables}")
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
