"""Shares of the training time by phase: as rlprof sees an unmodified program, and as timers placed by hand do."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from commands import checked, read_report, run_command
from measure import CannotMeasure, say
from zero_code_programs import FOLDER, Program

REST = "in no phase"  # for rlprof: unattributed, and spans without a phase, which it calls `other`
UNATTRIBUTED = "unattributed"

#: In percent of the training time.
Shares = dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """Medians over the runs; `twice` is one run that both timed at once."""

    by_hand: Shares
    seen: Shares
    twice: tuple[Shares, Shares]
    runs: dict[str, list[Shares]]

    def apart(self) -> dict[str, float]:
        """Points by which rlprof differs, for each phase."""
        return apart(self.seen, self.by_hand)

    def by_hand_apart(self) -> dict[str, float]:
        """Points by which the timers' own runs differ among themselves."""
        runs = self.runs["by hand"]
        shares = {name: [run.get(name, 0.0) for run in runs] for name in self.by_hand if name != REST}
        return {name: max(values) - min(values) for name, values in shares.items()}

    def apart_in_one_run(self) -> dict[str, float]:
        return apart(*self.twice)


def apart(seen: Shares, by_hand: Shares) -> dict[str, float]:
    names = sorted((set(seen) | set(by_hand)) - {REST, UNATTRIBUTED})
    return {name: seen.get(name, 0.0) - by_hand.get(name, 0.0) for name in names}


def largest(differences: Mapping[str, float]) -> tuple[str, float]:
    name = max(differences, key=lambda each: abs(differences[each]))
    return name, differences[name]


def compare(program: Program, rounds: int, steps: int) -> Comparison:
    by_hand, seen = [], []
    for number in range(rounds):
        say(f"{program.name}: phases, by hand and recorded, {number + 1} of {rounds} ...")
        by_hand.append(hand_shares(told(checked(hand_command(program, steps)).stdout)))
        seen.append(recorded(program, [str(program.file), *program.arguments(steps)], program.module)[0])
    say(f"{program.name}: phases, both in one run ...")
    shares, output = recorded(program, hand_command(program, steps)[1:], program.timed_module)
    twice = (shares, hand_shares(told(output)))
    return Comparison(medians(by_hand), medians(seen), twice, {"by hand": by_hand, "rlprof": seen})


def hand_command(program: Program, steps: int) -> list[str]:
    return [sys.executable, str(FOLDER / "hand_timed.py"), program.module, *program.arguments(steps)]


def told(output: str) -> dict[str, Any]:
    """What a program says of its training: the last such line, whatever is printed after it."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"seconds"'):
            values: dict[str, Any] = json.loads(line)
            return values
    raise CannotMeasure("the program did not say how long its training took")


def hand_shares(values: dict[str, Any]) -> Shares:
    shares = {phase: 100 * seconds / values["seconds"] for phase, seconds in values["by_hand"].items()}
    return shares | {REST: 100 - sum(shares.values())}


def recorded(program: Program, words: list[str], module: str) -> tuple[Shares, str]:
    """Under `rlprof run`, with a span around the training, so that start-up and the end do not blur the shares."""
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as folder:
        recording = Path(folder) / "run.rlprof"
        done = checked(run_command(recording, words, ("--span", f"{module}:Training.train")))
        return recorded_shares(read_report(recording)), done.stdout


def recorded_shares(report: dict[str, Any]) -> Shares:
    """Self times below the training's span, of its own process. The report has taken rlprof's cost out of them."""
    main = report["run"]["processes"][0]["id"]
    seconds: dict[str, float] = {}
    for operation in report["operations"]:
        path = operation["path"]
        if operation["process"] == main and path[0] == "Training.train":
            phase = UNATTRIBUTED if len(path) == 1 else operation["phase"]
            seconds[phase] = seconds.get(phase, 0.0) + operation["self_seconds"]
    total = sum(seconds.values())
    if not total:
        raise CannotMeasure("the recording has no span around the training")
    shares = {phase: 100 * value / total for phase, value in seconds.items()}
    shares[REST] = shares.pop("other", 0.0) + shares.get(UNATTRIBUTED, 0.0)
    return shares


def medians(runs: list[Shares]) -> Shares:
    names = {name for run in runs for name in run}
    return {name: median(run.get(name, 0.0) for run in runs) for name in names}
