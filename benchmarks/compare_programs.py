"""`rlprof compare` with a real training program, and what hyperfine and pyperf say about the same pair.

The program is the CartPole PPO of examples/. Compared are: the program with itself, and with a slow-down put in that
makes each turn take a known share longer; each once as commands in turns, once as batches inside one run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from commands import rlprof_command
from measure import HERE, Result, Table, argument_parser, finish, new_result, run_script, say

PROGRAM = HERE / "programs" / "slowed_ppo.py"


def comparison(words: list[str], directory: Path) -> tuple[dict[str, Any], float]:
    """The JSON of a comparison, and the seconds it took to make."""
    file = directory / "comparison.json"
    began = time.monotonic()
    subprocess.run([*rlprof_command(), "compare", *words, "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found, time.monotonic() - began


def by_commands(args: argparse.Namespace, slow: float, directory: Path) -> tuple[dict[str, Any], float]:
    base = f"{shlex.quote(str(PROGRAM))} --iterations {args.iterations}"
    out = directory / f"commands-{slow:g}"
    words = [
        "--a",
        base,
        "--b",
        f"{base} --slow {slow:g}" if slow else base,
        "--runs",
        str(args.runs),
        "--out",
        str(out),
    ]
    return comparison([*words, "--no-early-stop", "--seed", "1"], directory)


def by_batches(args: argparse.Namespace, slow: float, directory: Path) -> tuple[dict[str, Any], float]:
    recording = directory / f"batches-{slow:g}.rlprof"
    began = time.monotonic()
    # A slow-down of nothing still has to switch: a millionth is nothing.
    words = ["--iterations", str(args.batch_iterations), "--alternate", "--slow", f"{slow or 1e-6:g}"]
    command = [*rlprof_command(), "run", "--quiet", "--no-html", "--out", str(recording), str(PROGRAM), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found, _ = comparison([str(recording), "--by", "slow"], directory)
    return found, time.monotonic() - began


def row(how: str, slow: float, found: dict[str, Any], seconds: float) -> tuple[str, ...]:
    overall = found["overall"]
    slower = [entry["phase"] for entry in found["phases"] if entry["verdict"] == "slower"]
    spread = "-" if found["minimal_detectable"] is None else f"{100 * found['minimal_detectable']:.1f}%"
    return (
        how,
        f"{1 / (1 + slow):.3f}",
        str(found["pairs"]),
        f"{seconds:.0f} s",
        f"{overall['ratio']:.3f} [{overall['low']:.3f}, {overall['high']:.3f}]",
        overall["verdict"],
        ", ".join(slower) or "-",
        spread,
        "-" if found["other_load"] is None else f"{100 * found['other_load']:.0f}%",
    )


def how_pairs_lie(directory: Path) -> list[str]:
    """How far pairs of the same program lay apart, and whether others' work goes together with it."""
    from rlprof.experiments.journal import open_journal
    from rlprof.experiments.measurements import measure_run
    from rlprof.recording import open_recording

    journal = open_journal(directory / "commands-0")
    logs, loads = [], []
    for pair in journal.complete_pairs():
        a, b = (measure_run(open_recording(journal.directory / trial.recording)) for trial in pair)
        logs.append(math.log(a.seconds / b.seconds))
        if a.other_load is not None and b.other_load is not None:
            loads.append(a.other_load - b.other_load)
    apart = f"{100 * statistics.stdev(logs):.1f}%"
    said = [f"Pairs of the program with itself lay {apart} apart (standard deviation of log ratios)."]
    if len(loads) == len(logs) and statistics.pstdev(loads) > 0:
        together = statistics.correlation(loads, logs)
        said.append(f"Their log ratios and the difference in others' use of the machine correlate by {together:.2f}.")
    return said


# --- peers ------------------------------------------------------------------------------------------------------------


def hyperfine(args: argparse.Namespace, slow: float, directory: Path) -> tuple[str, ...]:
    tool = args.hyperfine or shutil.which("hyperfine")
    if tool is None:
        return ("hyperfine", f"{1 / (1 + slow):.3f}", "not installed (Debian: apt-get install hyperfine)")
    commands = [_bare(args, 0.0), _bare(args, slow)]
    words = [
        tool,
        "--warmup",
        "1",
        "--runs",
        str(args.runs),
        "--style",
        "basic",
        "--export-json",
        str(directory / "h.json"),
    ]
    began = time.monotonic()
    done = subprocess.run([*words, *commands], check=True, capture_output=True, text=True)
    results = json.loads((directory / "h.json").read_text())["results"]
    times = [f"{entry['mean']:.2f} ± {entry['stddev']:.2f} s" for entry in results]
    summary = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).partition("Summary")[2]
    said = " ".join(summary.replace(str(PROGRAM), "PROGRAM").replace(sys.executable, "python").split())
    ratio = results[0]["mean"] / results[1]["mean"]
    figures = f"{ratio:.3f}: {times[0]} against {times[1]}"
    return ("hyperfine", f"{1 / (1 + slow):.3f}", f"{figures}; {said} ({time.monotonic() - began:.0f} s)")


def pyperf(args: argparse.Namespace, slow: float, directory: Path) -> tuple[str, ...]:
    environment = dict(os.environ)
    if args.pyperf_path:
        environment["PYTHONPATH"] = os.pathsep.join([str(args.pyperf_path), environment.get("PYTHONPATH", "")])
    began = time.monotonic()
    files = []
    for at, share in enumerate((0.0, slow)):
        file = directory / f"pyperf-{slow:g}-{at}.json"
        words = [sys.executable, "-m", "pyperf", "command", "-p", str(args.runs), "-n", "1", "-w", "0", "-l", "1"]
        words += ["-q", "-o", str(file)]
        words += ["--inherit-environ", "PYTHONPATH", "--", *shlex.split(_bare(args, share))]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            return ("pyperf", f"{1 / (1 + slow):.3f}", f"not measured: {last}")
        files.append(str(file))
    words = [sys.executable, "-m", "pyperf", "compare_to", "-v", *files]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    said = " ".join(line.strip() for line in done.stdout.splitlines() if line.strip())
    return ("pyperf", f"{1 / (1 + slow):.3f}", f"{said} ({time.monotonic() - began:.0f} s)")


def _bare(args: argparse.Namespace, slow: float) -> str:
    words = [sys.executable, str(PROGRAM), "--iterations", str(args.iterations)]
    return shlex.join([*words, "--slow", f"{slow:g}"] if slow else words)


WAYS = {"commands": by_commands, "batches": by_batches}
PEERS = {"hyperfine": hyperfine, "pyperf": pyperf}


def compare_all(result: Result, args: argparse.Namespace, directory: Path) -> None:
    rows = []
    for how in [name for name in WAYS if name in args.only]:
        for slow in (0.0, args.slow):
            say(f"{how}, each turn {100 * slow:g}% longer ...")
            found, seconds = WAYS[how](args, slow, directory)
            rows.append(row(how, slow, found, seconds))
            result.data[f"{how} {slow:g}"] = found
            wanted = "slower" if slow else "same or cannot-tell"
            right = found["overall"]["verdict"] in wanted
            result.check_true(f"{how}, {100 * slow:g}% slower", wanted, found["overall"]["verdict"], right)
    if rows:
        columns = ("as", "truth", "pairs", "took", "ratio", "verdict", "slower phases", "detectable", "other load")
        result.tables.append(Table("rlprof compare", columns, rows))
    if "commands" in args.only:
        result.notes.extend(how_pairs_lie(directory))


def ask_peers(result: Result, args: argparse.Namespace, directory: Path) -> None:
    rows = []
    for name in [name for name in PEERS if name in args.only]:
        for slow in (0.0, args.slow):
            say(f"{name}, each turn {100 * slow:g}% longer ...")
            rows.append(PEERS[name](args, slow, directory))
    if rows:
        result.tables.append(Table("The same pair by others", ("tool", "truth", "what it says"), rows))
        result.notes.append(
            "The truth is the ratio of speeds; hyperfine and pyperf time the whole command, imports included."
        )


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--runs", type=int, help="pairs (10; quick: 5)")
    parser.add_argument("--iterations", type=int, help="turns of each run (40; quick: 20)")
    parser.add_argument("--batch-iterations", type=int, help="turns of the run with batches (400; quick: 120)")
    parser.add_argument("--slow", type=float, default=0.05, help="the slow-down that is put in (0.05)")
    parser.add_argument("--only", nargs="+", choices=[*WAYS, *PEERS], default=[*WAYS, *PEERS], help="not all of it")
    parser.add_argument("--keep", type=Path, help="a folder for all recordings, else they are thrown away")
    parser.add_argument("--hyperfine", help="where hyperfine is, if not on the path")
    parser.add_argument("--pyperf-path", type=Path, help="a folder that pyperf is installed in, if not here")
    args = parser.parse_args()
    args.runs = args.runs or (5 if args.quick else 10)
    args.iterations = args.iterations or (20 if args.quick else 40)
    args.batch_iterations = args.batch_iterations or (120 if args.quick else 400)
    result = new_result("Comparing a real program", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-compare-") as scratch:
        directory = args.keep or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        compare_all(result, args, directory)
        ask_peers(result, args, directory)
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
