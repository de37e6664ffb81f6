"""Programs that are slow for one known reason: is it named, with its line, and does the cure bring what was said?

Each sick program and its healthy twin run bare in turns: the ratio of their speeds is what the cure brought. Then both
are recorded once. The sick one's findings are held against the known cause; whatever is found in the healthy one beyond
information is a false alarm. A cure that brought more than the finding's bound breaks the bound: judged by the lower
end of the measured interval, since the bound is on the true gain.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from commands import checked, read_report, run_command
from measure import ROOT, CannotMeasure, Result, Table, argument_parser, finish, new_result, run_script, say

from rlprof.experiments.pairs import Spread, ratios, spread

sys.path.insert(0, str(ROOT / "tests"))
from support.quota import a_quota, entering
from support.sick import SickCase, sick_cases, speed_of

FIRST, TOP_THREE, RIGHT_LINE, BOUNDED = 90.0, 100.0, 90.0, 95.0
FEWEST_CASES = 20
COLUMNS = (
    "case",
    "cause",
    "named as",
    "right line",
    "its own time",
    "at most",
    "measured",
    "within",
    "at most / measured",
    "false alarms",
)


@dataclass(frozen=True)
class Diagnosis:
    case: SickCase
    measured: Spread
    findings: list[dict[str, Any]]
    alarms: list[dict[str, Any]]

    @property
    def rank(self) -> int | None:
        """Where the cause stands among the findings, from 1; None where it was not named."""
        return next((n for n, found in enumerate(self.findings, 1) if found["rule"] == self.case.rule), None)

    @property
    def right_line(self) -> bool | None:
        """None where no line of the program is to blame."""
        if not self.case.lines:
            return None
        where = self.findings[self.rank - 1]["where"] if self.rank else []
        return bool(where) and Path(where[0]["file"]).name == "sick.py" and where[0]["line"] in self.case.lines

    @property
    def bound(self) -> float | None:
        return float(self.findings[self.rank - 1]["gain"]["high"]) if self.rank else None

    @property
    def own_time(self) -> float | None:
        """What the cause's own time would bring: the figure beside the bound."""
        return float(self.findings[self.rank - 1]["gain"]["sps_ratio"]) if self.rank else None

    @property
    def slack(self) -> float | None:
        """How many times the measured gain the bound is: one that is always kept because it is wide helps nobody."""
        return None if self.bound is None else self.bound / self.measured.median

    @property
    def bounded(self) -> bool | None:
        return None if self.bound is None else self.measured.low <= self.bound


def bare_speed(program: Path, **options: Any) -> float:
    return speed_of(checked([sys.executable, str(program)], **options).stdout)


def recorded_findings(program: Path, folder: Path, **options: Any) -> list[dict[str, Any]]:
    recording = folder / f"{program.parent.name}-{program.stem}.rlprof"
    checked(run_command(recording, [str(program)]), **options)
    findings: list[dict[str, Any]] = read_report(recording)["findings"]
    return findings


def diagnose(case: SickCase, rounds: int, folder: Path, known: Spread | None) -> Diagnosis:
    say(f"{case.name} ...")
    sick, healthy = [], []
    with contextlib.ExitStack() as stack:
        options = {} if case.quota is None else {"preexec_fn": entering(stack.enter_context(a_quota(case.quota)))}
        for _ in range(rounds if known is None else 0):
            sick.append(bare_speed(case.sick, **options))
            healthy.append(bare_speed(case.healthy, **options))
        findings = recorded_findings(case.sick, folder, **options)
        alarms = [f for f in recorded_findings(case.healthy, folder, **options) if f["severity"] != "info"]
    return Diagnosis(case, known or spread(ratios(healthy, sick)), findings, alarms)


def speeds_in(file: Path | None) -> dict[str, Spread]:
    """What the cures brought in an earlier run. The bare programs have nothing of rlprof in them: it holds."""
    if file is None:
        return {}
    noted = json.loads(file.read_text(encoding="utf-8"))["data"]
    return {name: Spread(**found["measured"]) for name, found in noted.items()}


def can_run(case: SickCase) -> bool:
    if case.quota is not None:
        try:
            with a_quota(case.quota):
                pass
        except OSError:
            return False
    return all(importlib.util.find_spec(name) is not None for name in case.needs)


def row(found: Diagnosis) -> tuple[str, ...]:
    said = {True: "yes", False: "NO", None: "-"}
    return (
        found.case.name,
        found.case.rule,
        str(found.rank or "NO"),
        said[found.right_line],
        f"{found.own_time:.2f}x" if found.own_time else "-",
        f"{found.bound:.2f}x" if found.bound else "-",
        found.measured.text(2, "x"),
        said[found.bounded],
        f"{found.slack:.2f}" if found.slack else "-",
        ", ".join(alarm["rule"] for alarm in found.alarms) or "none",
    )


def plain(found: Diagnosis) -> dict[str, Any]:
    return {
        "rank": found.rank,
        "right_line": found.right_line,
        "measured": vars(found.measured),
        "own_time": found.own_time,
        "bound": found.bound,
        "named": [each["rule"] for each in found.findings],
        "alarms": [each["rule"] for each in found.alarms],
    }


def percent(those: list[bool]) -> float:
    return 100.0 * sum(those) / len(those)


def fill(result: Result, cases: list[SickCase], rounds: int, known: dict[str, Spread]) -> None:
    with tempfile.TemporaryDirectory(prefix="rlprof-diagnoses-") as folder:
        found = [diagnose(case, rounds, Path(folder), known.get(case.name)) for case in cases]
    result.tables.append(
        Table(f"Sick programs and their healthy twins, {rounds} pairs", COLUMNS, [row(f) for f in found])
    )
    ranks = [each.rank for each in found]
    lines = [each.right_line for each in found if each.right_line is not None]
    bounded = [each.bounded for each in found if each.bounded is not None]
    result.check_at_least("sick programs, and as many healthy twins", float(len(found)), FEWEST_CASES)
    result.check_at_least("cause named first", percent([rank == 1 for rank in ranks]), FIRST, "%")
    top = percent([rank is not None and rank <= 3 for rank in ranks])
    result.check_at_least("cause named among the first three", top, TOP_THREE, "%")
    result.check_at_least("right line", percent(lines) if lines else None, RIGHT_LINE, "%")
    result.check_at_most("false alarms on healthy twins", float(sum(len(each.alarms) for each in found)), 0)
    result.check_at_least("cure brought no more than the bound", percent(bounded) if bounded else None, BOUNDED, "%")
    slack = [each.slack for each in found if each.slack is not None]
    if slack:
        middle, (least, most) = median(slack), (min(slack), max(slack))
        result.notes.append(
            f"The bound is {middle:.2f} times what the cure brought (median; {least:.2f} to {most:.2f})."
        )
    result.data = {each.case.name: plain(each) for each in found}


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="pairs of bare runs for each case (6; quick: 2)")
    parser.add_argument("--speeds", type=Path, metavar="FILE", help="bare runs are those of an earlier --json FILE")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="these alone (folders of tests/sick)")
    args = parser.parse_args()
    cases = [case for case in sick_cases() if not args.only or case.name in args.only]
    ready = [case for case in cases if can_run(case)]
    if not ready:
        raise CannotMeasure("no case can run: their libraries are not installed, or control groups cannot be made")
    result = new_result("Diagnoses", args)
    fill(result, ready, args.rounds or (2 if args.quick else 6), speeds_in(args.speeds))
    left_out = [case.name for case in cases if case not in ready]
    if left_out:
        result.notes.append(
            f"Left out, because a library is not installed or no control group can be made: {', '.join(left_out)}."
        )
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
