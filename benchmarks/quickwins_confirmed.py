"""`rlprof quickwins` on three programs, each gain confirmed by the program with the permanent lines written into it.

For each program: quick wins are measured from outside; then every winner, and all of them together, is written into a
copy of the program by the lines that rlprof shows, and the copies run in rounds with the program as it was. The gain
from outside is confirmed where the permanent lines are proven to be faster and both intervals overlap.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import Result, Table, argument_parser, as_markdown, finish, new_result, read_result, run_script, say
from quickwins_programs import PROGRAMS, Program

from rlprof.experiments.arm_comparisons import compare_arms
from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct
from rlprof.experiments.logbook import Trial
from rlprof.experiments.rounds import run_rounds
from rlprof.model.comparison import Comparison

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
TOGETHER = "together"
UNDECIDED = "cannot tell"


class Progress:
    def begins(self, pair: int, variant: str) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        say(f"  round {trial.pair + 1}  {trial.variant}: {trial.seconds:.1f} s, {trial.outcome}")


def quick_wins(script: Path, arguments: list[str], args: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """What `rlprof quickwins` finds from outside."""
    file = directory / "quickwins.json"
    command = [sys.executable, "-m", "rlprof", "quickwins", "--budget", args.budget, "--seed", "1"]
    command += ["--out", str(directory / "trials"), "--json", str(file)]
    command += [word for cure in args.only or () for word in ("--only", cure)]
    subprocess.run([*command, "--", str(script), *arguments], check=True, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def winners(found: dict[str, Any], program: Program) -> list[str]:
    """Those that won and that a line of the program makes permanent."""
    won = [entry for entry in found["cures"] if entry["gain"] and entry["gain"]["verdict"] == "faster"]
    return [entry["cure"]["name"] for entry in won if entry["cure"]["name"] in program.permanent]


def confirm(
    program: Program, script: Path, cures: list[str], together: tuple[str, ...], arguments: list[str], rounds: int
) -> dict[str, Comparison]:
    """The program with the permanent lines of each winner, and of all of the combination, against itself."""
    directory = script.parent / "permanent"
    directory.mkdir()
    arms = [Arm(BASELINE_ARM, (str(script), *arguments))]
    for number, cure in enumerate(cures):
        copy = program.write(directory / f"{script.stem}_{number}.py", (cure,))
        arms.append(Arm(cure, (str(copy), *arguments)))
    if together:
        copy = program.write(directory / f"{script.stem}_{TOGETHER}.py", together)
        arms.append(Arm(TOGETHER, (str(copy), *arguments)))
    journal = ArmsJournal(directory, ArmsPlan("sweep", tuple(arms), Conduct(rounds, seed=1)))
    journal.save()
    run_rounds(journal, Progress())
    return compare_arms(journal)


def spread(gain: Any) -> str:
    """A ratio with its interval, of a comparison or of the JSON of quick wins."""
    read = gain.get if isinstance(gain, dict) else lambda name: getattr(gain, name)
    ratio, low, high = (read(name) for name in ("ratio", "low", "high"))
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]" if None not in (ratio, low, high) else "-"


def confirmed(gain: dict[str, Any], permanent: Comparison) -> str:
    """Whether the permanent lines bring what was measured from outside: yes, no, or nobody can tell."""
    overall = permanent.overall
    if overall.low is None or overall.high is None or None in (gain["low"], gain["high"]):
        return UNDECIDED
    if overall.verdict == "cannot-tell" and overall.high >= gain["low"]:
        return UNDECIDED
    overlap = gain["low"] <= overall.high and overall.low <= gain["high"]
    return "yes" if overall.verdict == "faster" and overlap else "no"


def one_program(name: str, program: Program, args: argparse.Namespace, result: Result, scratch: Path) -> None:
    directory = scratch / name
    directory.mkdir()
    script = program.write(directory / f"{name}_as_found.py")
    arguments = [*program.arguments, "--steps", str(args.steps or max(int(program.steps * args.scale), 1))]
    say(f"{name}: quick wins ...")
    found = quick_wins(script, arguments, args, directory)
    cures = winners(found, program)
    combination = found["together"]
    together = tuple(combination["cures"]) if combination and combination["gain"] else ()
    if not set(together) <= set(program.permanent):
        together = ()
    say(f"{name}: permanent lines for {', '.join(cures) or 'no winner'} ...")
    permanent = confirm(program, script, cures, together, arguments, args.rounds) if cures else {}
    tried = [entry for entry in found["cures"] if entry["gain"]]
    rows = [_row(entry["cure"]["name"], entry, permanent.get(entry["cure"]["name"])) for entry in tried]
    if combination and combination["gain"]:
        rows.append(_row(f"all together: {' + '.join(combination['cures'])}", combination, permanent.get(TOGETHER)))
    columns = ("cure", "from outside", "pairs", "verdict", "results", "permanent lines", "confirmed")
    result.tables.append(Table(f"{name}: {program.file}, as most people would have it", columns, rows))
    left_out = [f"{e['cure']['name']} ({e['why']})" for e in found["cures"] if not e["gain"]]
    if left_out:
        result.notes.append(f"{name}: left out after one round: {'; '.join(left_out)}.")
    result.data[name] = found
    for row in rows:
        bar = "confirmed by its permanent lines"
        if row[-1] == UNDECIDED:
            result.check_missing(f"{name}, {row[0]}", bar, f"{row[-2]}: {UNDECIDED}")
        elif row[-1] in ("yes", "no"):
            result.check_true(f"{name}, {row[0]}", bar, row[-2], row[-1] == "yes")


def _row(name: str, entry: dict[str, Any], permanent: Comparison | None) -> tuple[str, ...]:
    gain, results = entry["gain"], entry["results"]
    said = {"same": "same", "different": "other", "unchecked": "not checked"}[results["kind"]] if results else "-"
    verdict = "dropped" if entry["state"] == "dropped" and gain["verdict"] == "cannot-tell" else gain["verdict"]
    cells = (name, spread(gain), str(gain["pairs"]), verdict, said)
    if permanent is None:
        return (*cells, "-", "-")
    return (*cells, spread(permanent.overall), confirmed(gain, permanent))


def write_docs(page: Path, result: Result) -> None:
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{as_markdown(result)}{END}{after}", encoding="utf-8")


def put_together(result: Result, parts: list[Result]) -> Result:
    """Programs that were measured one at a time, as one result."""
    for part in parts:
        result.tables += part.tables
        result.checks += part.checks
        result.notes += part.notes
        result.data.update(part.data)
    return result


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", help="only this one")
    parser.add_argument("--budget", help="of quick wins, for each program (20m; quick: 4m)")
    parser.add_argument("--rounds", type=int, help="of the permanent lines (10; quick: 5)")
    parser.add_argument("--steps", type=int, help="env steps of a run, instead of each program's own")
    parser.add_argument("--only", action="append", help="try only this cure")
    parser.add_argument("--docs", type=Path, help="put the tables between the marks of this page")
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help="what --json wrote, instead of measuring")
    args = parser.parse_args()
    args.budget = args.budget or ("4m" if args.quick else "20m")
    args.rounds = args.rounds or (5 if args.quick else 10)
    args.scale = 0.25 if args.quick else 1.0
    result = new_result("Quick wins, confirmed by their permanent lines", args)
    if args.read:
        result = put_together(result, [read_result(file.read_text(encoding="utf-8")) for file in args.read])
    else:
        with tempfile.TemporaryDirectory(prefix="rlprof-quickwins-") as scratch:
            for name in args.program or PROGRAMS:
                one_program(name, PROGRAMS[name], args, result, Path(scratch))
    if args.docs:
        write_docs(args.docs, result)
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
