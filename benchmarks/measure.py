"""What every benchmark here shares: facts about the machine, tables, verdicts; measuring in turns is rlprof's own."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from rlprof.experiments.pairs import Spread

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEFAULT_CACHE = ROOT / ".bench-cache"

PASS, MISS, UNMEASURED = "pass", "MISS", "not measured"


class CannotMeasure(Exception):
    """Something the benchmark needs is not there; the message says what and how to get it."""


# ---------------------------------------------------------------------------------------------- measuring


def differences(of: Sequence[float], minus: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(of, minus, strict=True)]


# ---------------------------------------------------------------------------------------------- results


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Check:
    """One bar of the project: what was asked, what was found, and whether that is enough."""

    what: str
    bar: str
    measured: str
    verdict: str


@dataclass
class Result:
    """Everything one benchmark found. `data` holds the raw numbers for machines."""

    benchmark: str
    command: str
    machine: dict[str, Any]
    quick: bool
    tables: list[Table] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    def check_at_most(self, what: str, found: Spread | float | None, limit: float, unit: str = "") -> None:
        self._check(what, f"<= {limit:g}{unit}", found, unit, lambda value: value <= limit)

    def check_at_least(self, what: str, found: Spread | float | None, limit: float, unit: str = "") -> None:
        self._check(what, f">= {limit:g}{unit}", found, unit, lambda value: value >= limit)

    def check_true(self, what: str, bar: str, measured: str, holds: bool) -> None:
        self.checks.append(Check(what, bar, measured, PASS if holds else MISS))

    def check_missing(self, what: str, bar: str, why: str) -> None:
        self.checks.append(Check(what, bar, why, UNMEASURED))

    def _check(
        self, what: str, bar: str, found: Spread | float | None, unit: str, holds: Callable[[float], bool]
    ) -> None:
        if found is None:
            self.check_missing(what, bar, "-")
            return
        value = found if isinstance(found, Spread) else Spread(found, found, found, 1)
        measured = value.text(3 if abs(value.median) < 10 else 1, unit)
        # The verdict is the median's; an interval that reaches over the bar is said, not hidden.
        if holds(value.low) != holds(value.high):
            measured += ", interval crosses the bar"
        self.checks.append(Check(what, bar, measured, PASS if holds(value.median) else MISS))

    @property
    def missed(self) -> bool:
        return any(check.verdict == MISS for check in self.checks)


def installed_version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def machine_facts() -> dict[str, Any]:
    """What a reader must know to judge the figures. No host name, no path."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "rlprof": installed_version("rlprof"),
        "numpy": installed_version("numpy"),
        "torch": installed_version("torch"),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


# ---------------------------------------------------------------------------------------------- drawing


def plain_table(table: Table) -> str:
    rows = [table.columns, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    lines = [table.title]
    for number, row in enumerate(rows):
        padded = zip(row, widths, strict=True)
        cells = [cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(padded)]
        lines.append("  " + "  ".join(cells).rstrip())
        if number == 0:
            lines.append("  " + "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def markdown_table(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    marks = ["---"] + ["---:"] * (len(table.columns) - 1)
    return "\n".join([f"**{table.title}**", "", line(table.columns), line(marks), *map(line, table.rows)])


def checks_table(checks: Sequence[Check]) -> Table:
    rows = [(check.what, check.bar, check.measured, check.verdict) for check in checks]
    return Table("Against the bars", ("what", "bar", "measured", "verdict"), rows)


def facts_line(machine: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items() if value is not None)


def as_plain(result: Result) -> str:
    parts = [f"{result.benchmark}{' (quick: figures are rough)' if result.quick else ''}", facts_line(result.machine)]
    parts += [plain_table(table) for table in result.tables]
    if result.checks:
        parts.append(plain_table(checks_table(result.checks)))
    parts += [f"Note: {note}" for note in result.notes]
    return "\n\n".join(parts)


def as_markdown(result: Result) -> str:
    title = f"### {result.benchmark}{' (quick: rough figures)' if result.quick else ''}"
    parts = [title, f"`{result.command}`"]
    parts += [markdown_table(table) for table in result.tables]
    parts += [f"- {note}" for note in result.notes]
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------------------------------------- scripts


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a figure to publish")
    parser.add_argument("--json", metavar="FILE", help="write the result for machines too ('-' for standard output)")
    return parser


def new_result(benchmark: str, args: argparse.Namespace) -> Result:
    name = Path(sys.argv[0]).name
    command = f"python benchmarks/{name}{' --quick' if args.quick else ''}"
    return Result(benchmark=benchmark, command=command, machine=machine_facts(), quick=args.quick)


def finish(result: Result, args: argparse.Namespace) -> int:
    """Print, write, and give the exit code: 1 where a bar is missed, as for the program's own commands."""
    if args.json == "-":
        print(json.dumps(asdict(result)))
    else:
        print(as_plain(result))
        if args.json:
            Path(args.json).write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")
    return 1 if result.missed else 0


def run_script(body: Callable[[], int]) -> None:
    """End with the body's exit code; what cannot be measured is one line and exit code 2."""
    try:
        sys.exit(body())
    except CannotMeasure as reason:
        print(f"{Path(sys.argv[0]).name}: {reason}", file=sys.stderr)
        sys.exit(2)


def say(line: str) -> None:
    """Progress, beside the result."""
    print(line, file=sys.stderr, flush=True)


def read_result(text: str) -> Result:
    """The result that a benchmark wrote with --json."""
    values = json.loads(text)
    values["tables"] = [
        Table(table["title"], tuple(table["columns"]), [tuple(row) for row in table["rows"]])
        for table in values["tables"]
    ]
    values["checks"] = [Check(**check) for check in values["checks"]]
    return Result(**values)
