"""An investigation on disk: a copy of its plan, and what it takes to go on with it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rlprof.experiments.investigate.arguments import changed_words
from rlprof.experiments.investigate.combine import Team
from rlprof.experiments.investigate.parse import read_plan
from rlprof.experiments.investigate.plan import Hypothesis, Plan, in_order
from rlprof.experiments.investigate.stage import FIRST_LOOK, KIND, Stage, first_look, stage_of
from rlprof.experiments.logbook import FILE, SCHEMA, NoExperiment, read_content
from rlprof.model.errors import BadOption

PLAN_FILE: Final = "plan.toml"


@dataclass(frozen=True, slots=True)
class Case:
    """`source` is the plan as it was named; the copy in `directory` is the one that counts."""

    directory: Path
    plan: Plan
    source: str
    seed: int

    def tested(self) -> list[Hypothesis]:
        """The hypotheses in the order of their tests, those with an empty change left out."""
        return [hypothesis for hypothesis in in_order(self.plan.hypotheses) if not hypothesis.change.is_empty]

    def stage(self, hypothesis: Hypothesis) -> Stage:
        return stage_of(self.directory, self.plan, hypothesis.name, hypothesis.change)

    def team_stage(self, team: Team) -> Stage:
        """Both sides run with what the plan says about combinations; a change has the last word."""
        return stage_of(self.directory, self._longer(), f"together {team.name}", team.change)

    def _longer(self) -> Plan:
        words = changed_words(self.plan.command, self.plan.settings.arguments_combined, ())
        return replace(self.plan, command=words)

    def first_look(self) -> Stage:
        return first_look(self.directory, FIRST_LOOK, self.plan)

    def first_look_together(self) -> Stage | None:
        """The program as it is where changes are tried together; None where that is no other run."""
        is_other = bool(self.plan.settings.arguments_combined)
        return first_look(self.directory, f"{FIRST_LOOK}-together", self._longer()) if is_other else None

    def with_limits(self, runs: int | None, timeout: float | None) -> Case:
        """The same with what was said on the command line."""
        settings = self.plan.settings
        settings = replace(settings, runs=runs or settings.runs, timeout=timeout or settings.timeout)
        return replace(self, plan=replace(self.plan, settings=settings))


def begin(directory: Path, plan_file: Path, plan: Plan, seed: int) -> Case:
    """A new investigation of the plan in a file; the directory must not hold one."""
    seed = seed if plan.settings.seed is None else plan.settings.seed
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _write(directory / PLAN_FILE, plan_file.read_text(encoding="utf-8"))
        content = {"kind": KIND, "schema": SCHEMA, "source": str(plan_file), "seed": seed}
        _write(directory / FILE, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise BadOption(f"cannot write to {directory}: {error.strerror or error}") from None
    return Case(directory, plan, str(plan_file), seed)


def resume(directory: Path) -> Case:
    """The investigation in a directory, with its plan read again: it may have been filled in meanwhile."""
    data = read_content(directory)
    there = data.get("kind", "compare")
    if there != KIND:
        raise NoExperiment(f"{directory} holds the experiment of another command: rlprof {there} --resume {directory}")
    if not isinstance(data.get("seed"), int):
        raise NoExperiment(f"{directory} holds one test of an investigation: name the directory above it")
    plan = read_plan(directory / PLAN_FILE)
    return Case(directory, plan, str(data.get("source", directory / PLAN_FILE)), data["seed"])


def _write(file: Path, text: str) -> None:
    """For nobody else's eyes: commands may hold secrets."""
    with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)
