"""The demo `snake`, investigated: every hypothesis of docs/experiments/snake.toml, and all cures together.

All cures together must make a whole run, from its first import to its end, at least ten times as fast.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import (
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    facts_line,
    finish,
    new_result,
    run_script,
    say,
)
from run_all import put_into

ROOT = Path(__file__).resolve().parent.parent
PLAN = ROOT / "docs" / "experiments" / "snake.toml"
#: Games that are over sooner, for a look whether everything works.
QUICK = {"--episodes 50": "--episodes 20", "--episodes 1000": "--episodes 40"}
BAR = 10.0


def investigate(directory: Path, plan: Path, budget: str | None) -> tuple[dict[str, Any], str]:
    """Run what is missing; the result as data, and as it reads on a terminal."""
    new = ["snake.toml", "--out", str(directory)] if not (directory / "experiment.json").exists() else []
    words = new or ["--resume", str(directory)]
    file = directory / "result.json"
    command = [sys.executable, "-m", "rlprof", "investigate", *words, "--json", str(file)]
    command += ["--budget", budget] if budget else []
    done = subprocess.run(
        command,
        cwd=plan.parent,
        env={**os.environ, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode == 2 or not file.exists():
        raise CannotMeasure(f"rlprof investigate ended with {done.returncode}")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found, done.stdout


def fill(result: Result, found: dict[str, Any]) -> None:
    """The table of expected against measured, and the bar."""
    rows = []
    for one in (*found["hypotheses"], *found["combinations"]):
        measured = one["measured"]
        spread = (
            f"{measured['ratio']:.2f} [{measured['low'] or 0:.2f}, {measured['high'] or 0:.2f}]" if measured else "-"
        )
        whole = f"{measured['end_to_end']:.2f}" if measured and measured["end_to_end"] else "-"
        rows.append((one["name"], f"{one['expected']:.2f}" if one["expected"] else "-", spread, whole, one["verdict"]))
    titles = ("hypothesis", "expected", "measured", "whole run", "verdict")
    result.tables.append(Table("snake: expected against measured, times as fast", titles, rows))
    proven = [one["measured"]["end_to_end"] for one in found["combinations"] if one["verdict"] == "confirmed"]
    best = max((whole for whole in proven if whole), default=None)
    result.check_at_least("snake: all cures together, a whole run", best, BAR, "x")
    result.data["investigation"] = found


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep trials there, and go on with what is there")
    parser.add_argument("--budget", metavar="TIME", help="as for rlprof investigate")
    parser.add_argument("--docs", type=Path, help="put the result between the marks of this page")
    args = parser.parse_args()
    result = new_result("Snake, investigated", args)
    text = PLAN.read_text(encoding="utf-8")
    for usual, short in QUICK.items() if args.quick else ():
        text = text.replace(usual, short)
    with tempfile.TemporaryDirectory(prefix="rlprof-snake-") as scratch:
        (Path(scratch) / PLAN.name).write_text(text, encoding="utf-8")
        directory = args.out.resolve() if args.out else Path(scratch) / "trials"
        found, said = investigate(directory, Path(scratch) / PLAN.name, args.budget)
        shown = said.replace(str(directory), "snake-investigation")
    fill(result, found)
    if args.docs:
        look = " (`--quick`: a look whether everything works, not figures to go by)" if args.quick else ""
        put_into(args.docs, f"Measured on: {facts_line(result.machine)}{look}.\n\n```text\n{_without_ends(shown)}\n```")
    return finish(result, args)


def _without_ends(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


if __name__ == "__main__":
    say("this takes an hour on a quiet machine; --quick takes a quarter of one")
    run_script(main)
