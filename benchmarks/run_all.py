"""Runs every benchmark, one after the other, and writes their tables as Markdown.

`--docs docs/performance.md` puts them between that page's marks, so that no figure there is copied by hand. With
`--from DIR` the figures come from JSON files of earlier runs (`--json-dir DIR`) and nothing is run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import (
    HERE,
    MISS,
    UNMEASURED,
    CannotMeasure,
    Result,
    Table,
    as_markdown,
    facts_line,
    markdown_table,
    read_result,
    run_script,
    say,
)

SCRIPTS = (
    "span_cost",
    "import_time",
    "corrected_time",
    "zero_code",
    "many_spans",
    "disk",
    "report_time",
    "html_report",
    "demo_engines",
    "diagnoses",
    "compare_statistics",
)
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def run_one(script: str, quick: bool, directory: Path) -> Result | str:
    """Its result, or the line that says why there is none."""
    file = directory / f"{script}.json"
    file.unlink(missing_ok=True)  # an older run's figures must not stand in for this one's
    command = [sys.executable, str(HERE / f"{script}.py"), "--json", str(file)]
    done = subprocess.run(command + ["--quick"] * quick, stdout=subprocess.DEVNULL, check=False)
    if not file.exists():
        return f"`benchmarks/{script}.py` gave no result (exit code {done.returncode})."
    return read_result(file.read_text(encoding="utf-8"))


def read_one(script: str, directory: Path) -> Result | str:
    file = directory / f"{script}.json"
    return read_result(file.read_text(encoding="utf-8")) if file.exists() else f"`benchmarks/{script}.py` was not run."


def overview(results: list[Result]) -> str:
    """Every bar in one table, with the command that prints its figure."""
    rows = [
        (check.what, check.bar, check.measured, check.verdict, f"`{result.command}`")
        for result in results
        for check in result.checks
    ]
    verdicts = [row[3] for row in rows]
    missed, unmeasured = verdicts.count(MISS), verdicts.count(UNMEASURED)
    title = f"{len(rows) - missed - unmeasured} of {len(rows)} bars held, {missed} missed, {unmeasured} not measured"
    return markdown_table(Table(title, ("what", "bar", "measured", "verdict", "command"), rows))


def as_page(results: list[Result], failures: list[str]) -> str:
    facts = [f"Measured on: {facts_line(results[0].machine)}."] if results else []
    table = [overview(results)] if results else []
    return "\n\n".join([*facts, *table, *failures, *(as_markdown(result) for result in results)]).rstrip() + "\n"


def put_into(page: Path, figures: str) -> None:
    """Replace what stands between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise CannotMeasure(f"{page.name} has no marks to put figures between: {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{figures}\n{END}{after}", encoding="utf-8")


def gather(args: argparse.Namespace) -> tuple[list[Result], list[str]]:
    outcomes: list[Result | str] = []
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as scratch:
        directory: Path = args.json_dir or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        for script in args.only:
            if args.from_dir:
                outcomes.append(read_one(script, args.from_dir))
                continue
            say(f"=== {script}")
            outcomes.append(run_one(script, args.quick, directory))
    results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
    return results, [outcome for outcome in outcomes if isinstance(outcome, str)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="pass --quick to each: a look, not figures to publish")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the Markdown there instead of printing it")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="put the figures between the marks of this page")
    parser.add_argument("--json-dir", type=Path, metavar="DIR", help="keep each benchmark's JSON there")
    parser.add_argument("--from", dest="from_dir", type=Path, metavar="DIR", help="read JSON from there, run nothing")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, help="these alone")
    args = parser.parse_args()
    results, failures = gather(args)
    figures = as_page(results, failures)
    if args.docs:
        put_into(args.docs, figures)
    elif args.out:
        args.out.write_text(figures, encoding="utf-8")
    else:
        print(figures)
    return 1 if failures or any(result.missed for result in results) else 0


if __name__ == "__main__":
    run_script(main)
