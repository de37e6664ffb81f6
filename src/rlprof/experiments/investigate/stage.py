"""The test of one change against the program as it is. Its trials and their journal have a directory of their own."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct, open_arms
from rlprof.experiments.investigate.arguments import changed_words
from rlprof.experiments.investigate.plan import Change, Plan
from rlprof.experiments.logbook import FILE, WARM_UP, Trial

KIND: Final = "investigate"
CHANGE_ARM: Final = "change"
#: Where the first look at the program is kept.
FIRST_LOOK: Final = "first-look"


@dataclass(frozen=True, slots=True)
class Stage:
    """What is tested, under which name, and where."""

    name: str
    arms: tuple[Arm, ...]
    directory: Path

    def exists(self) -> bool:
        return (self.directory / FILE).is_file()

    def opened(self) -> ArmsJournal | None:
        """What has been measured so far; None where it was not begun."""
        return open_arms(self.directory, KIND) if self.exists() else None

    def begun(self, conduct: Conduct) -> ArmsJournal:
        """The journal to go on with: the limits are those of today, the order is that of the beginning."""
        journal = self.opened()
        if journal is None:
            self.directory.mkdir(parents=True, exist_ok=True)
            journal = ArmsJournal(self.directory, ArmsPlan(KIND, self.arms, conduct, {"name": self.name}))
        else:
            kept = replace(conduct, seed=journal.plan.conduct.seed)
            journal.plan = replace(journal.plan, conduct=kept)
        journal.save()
        return journal


def baseline_arm(plan: Plan) -> Arm:
    return Arm(BASELINE_ARM, plan.command, dict(plan.environment))


def stage_of(root: Path, plan: Plan, name: str, change: Change) -> Stage:
    """Another change under the same name is another test, and does not go on with the trials of the first."""
    changed = Arm(
        CHANGE_ARM,
        changed_words(plan.command, change.arguments, change.remove),
        {**plan.environment, **change.environment},
        change.treatments,
    )
    arms = (baseline_arm(plan), changed)
    said = json.dumps([[arm.command, dict(arm.environment), arm.treatments] for arm in arms], sort_keys=True)
    digest = hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "change"
    return Stage(name, arms, root / f"{readable}-{digest}")


def first_look(root: Path, name: str, plan: Plan) -> Stage:
    """The program as it is, by itself: whether it works, and how long it takes."""
    return Stage(name, (baseline_arm(plan),), root / name)


def has_settled(journal: ArmsJournal) -> bool:
    return any(entry.settled for entry in journal.dropped)


def is_done(journal: ArmsJournal) -> bool:
    """Whether more rounds would bring nothing, or are not planned."""
    done = {trial.pair for trial in journal.trials if trial.variant == CHANGE_ARM and trial.came_to_its_end}
    return CHANGE_ARM not in journal.active() or len(done - {WARM_UP}) >= journal.plan.runs


def baseline_failure(journal: ArmsJournal) -> Trial | None:
    """The last run of the program as it is, where it failed and never worked in this test."""
    own = [trial for trial in journal.trials if trial.variant == BASELINE_ARM and trial.came_to_its_end]
    return own[-1] if own and all(trial.outcome != "completed" for trial in own) else None
