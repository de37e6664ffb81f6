"""How fast a run, or a phase of its schedule, is against how fast it should be on such hardware."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from rlprof.analyse.published_speeds import ROWS
from rlprof.analyse.rollouts import RolloutTree, mean_rollouts, phase_totals
from rlprof.model.errors import BadOption
from rlprof.model.expectations import Expectation, read_row
from rlprof.model.recording import Recording
from rlprof.model.report import Report

#: Slower than this share of the lower end is worth a look: machines differ, but not by that much.
FLAGGED_BELOW: Final = 0.5
#: Fewer env steps than this make no rate that could be held against anything.
FEWEST_STEPS: Final = 20


@dataclass(frozen=True, slots=True)
class PhaseSpeed:
    phase: str
    device: str
    sps: float | None
    expected: Expectation | None  # None where the table says nothing about it
    flagged: bool

    @property
    def share(self) -> float | None:
        """Of the lower end of what is expected."""
        return self.sps / self.expected.low if self.sps is not None and self.expected is not None else None


def compare_speeds(trees: Iterable[RolloutTree], device: str, table: Iterable[Expectation]) -> list[PhaseSpeed]:
    """Each phase beside what the table says about it on this kind of device."""
    known = {(row.hardware, row.phase): row for row in table}
    return [_speed(tree.phase, device, tree.sps, known.get((device, tree.phase))) for tree in trees]


def speeds_of(recording: Recording, report: Report) -> list[PhaseSpeed]:
    """The run as a whole, and the phases around its rollouts, as far as a row of the table is about them."""
    rows = [row for row in (*_own_rows(recording), *ROWS) if _fits(row, recording, report)]
    rates = {"": _overall(report)} | {tree.phase: tree.sps for tree in mean_rollouts(phase_totals(report, recording))}
    found = ((phase, rate, _closest(rows, phase)) for phase, rate in rates.items())
    hardware = report.run.gpu or report.run.cpu or ""
    return [_speed(phase, hardware, rate, row) for phase, rate, row in found if row is not None]


def _speed(phase: str, device: str, sps: float | None, row: Expectation | None) -> PhaseSpeed:
    slow = row is not None and sps is not None and sps < FLAGGED_BELOW * row.low
    return PhaseSpeed(phase, device, sps, row, slow)


def _overall(report: Report) -> float | None:
    """What the run does once it is warm; None where too little was counted."""
    throughput = report.throughput
    if (throughput.env_steps or 0.0) < FEWEST_STEPS:
        return None
    return throughput.sps_steady or throughput.sps


def _own_rows(recording: Recording) -> Iterator[Expectation]:
    """The rows that were in force when the program was recorded; one that is damaged is left out."""
    rows = recording.main.facts.get("expectations")
    for row in rows if isinstance(rows, list) else ():
        try:
            yield read_row(row)
        except BadOption:
            continue


def _fits(row: Expectation, recording: Recording, report: Report) -> bool:
    return _is_on(row.hardware, report) and _is_by(row.algorithm, recording, report)


def _is_on(hardware: str, report: Report) -> bool:
    wanted, gpu, cpu = hardware.casefold(), (report.run.gpu or "").casefold(), (report.run.cpu or "").casefold()
    if wanted in ("cpu", "gpu"):
        return bool(gpu) == (wanted == "gpu")
    return wanted in gpu or wanted in cpu


def _is_by(algorithm: str, recording: Recording, report: Report) -> bool:
    """Whether a library's algorithm has that name, or the program's own name has these words."""
    if not algorithm:
        return True
    noted = recording.main.facts.get("algorithm")
    if isinstance(noted, str) and noted.casefold() == algorithm.casefold():
        return True
    words = _words(algorithm)
    return any(_has(_words(name), words) for name in _programs(report.run.command))


def _programs(command: str) -> Iterator[str]:
    """The script or the module that was run."""
    try:
        parts = shlex.split(command)
    except ValueError:
        parts = command.split()
    for before, part in zip(("", *parts), parts, strict=False):
        if part.endswith(".py"):
            yield PurePath(part.replace("\\", "/")).stem
        elif before == "-m":
            yield part


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", name.casefold()) if word]


def _has(words: list[str], wanted: list[str]) -> bool:
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))


def _closest(rows: list[Expectation], phase: str) -> Expectation | None:
    """The row that says most about where it holds; of equal ones the first, and the user's are before ours."""
    about = [row for row in rows if row.phase == phase]
    return max(about, key=lambda row: len(row.hardware) + len(row.algorithm), default=None)
