"""Tries cures on a program from outside: rounds of all that have something to do, until the time is used up.

A first round shows which cures apply at all. Those that cannot gain what counts are dropped as soon as that is likely,
so that the rest of the time goes to the promising ones; then the winners run together against the program as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Final

from rlprof.analyse.treatments import treatments_of
from rlprof.experiments.arm_comparisons import Readings, settled_arms
from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct, Dropped
from rlprof.experiments.executor import TrialsFail, Watcher
from rlprof.experiments.rounds import RunArm, run_rounds
from rlprof.experiments.statistics import FEWEST_PAIRS
from rlprof.model.quickwins import Cure

KIND: Final = "quickwins"
TOGETHER: Final = "together"
#: Every run notes a fingerprint of its weights, the program as it is, too.
FINGERPRINT: Final = "fingerprint"
MOST_ROUNDS: Final = 30
#: From so many pairs on, an arm may be given up.
FEWEST_TO_GIVE_UP: Final = 3
#: An arm is given up if a gain that counts lies outside this interval; it costs no false alarm, only a gain missed.
GIVE_UP_LEVEL: Final = 0.20
#: A trial may take so many times as long as the warm-up before it counts as hanging.
PATIENCE: Final = 5.0
LEAST_TIMEOUT: Final = 60.0

INAPPLICABLE: Final = "nothing to apply to: "
BROKEN: Final = "the program fails with it"


def arm_name(text: str) -> str:
    """A treatment as the name of an arm, which is part of file names."""
    return re.sub(r"[^A-Za-z0-9._=+-]", "-", text)[:80]


def plan_of(
    command: Sequence[str], cures: Sequence[Cure], conduct: Conduct, settings: Mapping[str, object]
) -> ArmsPlan:
    words = tuple(command)
    arms = [Arm(arm_name(cure.name), words, treatments=(FINGERPRINT, cure.name)) for cure in cures]
    return ArmsPlan(KIND, (Arm(BASELINE_ARM, words, treatments=(FINGERPRINT,)), *arms), conduct, dict(settings))


@dataclass
class Trying:
    """The experiment as it goes on: one journal of single cures, and one of the winners together."""

    journal: ArmsJournal
    budget_seconds: float
    watcher: Callable[[ArmsJournal, Callable[[], float]], Watcher]  # the second says how many seconds are left
    run: RunArm | None = None
    together: ArmsJournal | None = None
    read: Callable[[ArmsJournal], Readings] = Readings

    def __post_init__(self) -> None:
        self.readings = self.read(self.journal)

    @property
    def spent(self) -> float:
        """Seconds of trials, over all sessions."""
        journals = [self.journal, *([self.together] if self.together else [])]
        return sum(trial.seconds for journal in journals for trial in journal.trials)

    def left(self) -> float:
        return self.budget_seconds - self.spent

    def warm_up(self) -> None:
        """Run the program as it is once; what hangs is told by how long that took."""
        journal, conduct = self.journal, replace(self.journal.plan.conduct, runs=MOST_ROUNDS)
        journal.plan = replace(journal.plan, conduct=replace(conduct, runs=0))
        try:
            run_rounds(journal, self.watcher(journal, self.left), run=self.run)
        finally:
            took = [trial.seconds for trial in journal.trials if trial.outcome == "completed"]
            timeout = conduct.timeout or (max(LEAST_TIMEOUT, PATIENCE * fmean(took)) if took else None)
            journal.plan = replace(journal.plan, conduct=replace(conduct, timeout=timeout))
            journal.save()

    def single_cures(self) -> None:
        """Rounds of every cure that is still in the race."""
        watcher = self.watcher(self.journal, self.left)
        run_rounds(self.journal, watcher, drop=self.drop, enough=self._enough, run=self.run)
        # The time may have been up before anybody asked what the last round has shown.
        active = [name for name in self.journal.active() if name != BASELINE_ARM]
        self.journal.dropped += [entry for name in active if (entry := self._useless(name)) is not None]
        self.journal.save()

    def drop(self, journal: ArmsJournal) -> list[Dropped]:
        """What further rounds leave out: nothing to do, broken, hopeless, or clear."""
        others = [name for name in journal.active() if name != BASELINE_ARM]
        found = [entry for name in others if (entry := self._useless(name) or self._hopeless(name)) is not None]
        given_up = {entry.arm for entry in found}
        clear = settled_arms(journal, self.readings)
        return [*found, *(entry for entry in clear if entry.arm not in given_up)]

    def _useless(self, name: str) -> Dropped | None:
        journal = self.journal
        done = journal.completed(name)
        if not done:
            failed = [t for t in journal.trials if t.variant == name and t.outcome in ("failed", "timeout")]
            if not failed:
                return None
            last = failed[-1]
            how = "it does not end" if last.outcome == "timeout" else f"exit code {last.exit_code}"
            log = journal.directory / Path(last.recording).with_suffix(".log")
            return Dropped(name, f"{BROKEN} ({how}); what it said is in {log}", settled=False)
        if not self.readings.readable(done[-1]):
            return None
        wanted = journal.plan.arm(name).treatments[-1]
        entries = [entry for entry in treatments_of(self.readings.recording(done[-1])) if entry.text == wanted]
        if entries and not entries[0].applied:
            return Dropped(name, f"{INAPPLICABLE}{entries[0].why}", settled=False)
        return None

    def _hopeless(self, name: str) -> Dropped | None:
        centre = self.readings.centre(name)
        if centre is None or centre.n < FEWEST_TO_GIVE_UP:
            return None
        margin = self.journal.plan.conduct.margin
        _, high = centre.interval(GIVE_UP_LEVEL)
        if high >= math.log1p(margin):
            return None
        return Dropped(name, f"a gain of {margin:.0%} or more is unlikely after {centre.n} rounds", settled=False)

    def _enough(self, journal: ArmsJournal) -> bool:
        """Whether another round would leave no time for the winners together, or no time at all.

        Before there are enough rounds for a verdict there can be no winner to keep time for.
        """
        typical = _typical(journal)
        gone = {entry.arm for entry in self.drop(journal)}
        next_round = sum(typical.get(name, 0.0) for name in journal.active() if name not in gone)
        reserve = 2 * FEWEST_PAIRS * typical.get(BASELINE_ARM, 0.0) if self._may_combine() else 0.0
        return next_round + reserve > self.left()

    def _may_combine(self) -> bool:
        edge = math.log1p(self.journal.plan.conduct.margin)
        names = [name for name in self.journal.plan.variants if name != BASELINE_ARM]
        centres = [found for name in names if (found := self.readings.centre(name)) is not None]
        return sum(found.mean > edge and found.n >= FEWEST_PAIRS for found in centres) > 1

    # --- the winners together -----------------------------------------------------------------------------------------

    def combine(self, winners: Sequence[Cure]) -> str | None:
        """Run the winners together against the program as it is; why not, where the time does not allow it."""
        plan = self.journal.plan
        typical = _typical(self.journal)[BASELINE_ARM]
        rounds = min(int(self.left() / (2 * typical)), MOST_ROUNDS)
        if self.together is None:
            if rounds < FEWEST_PAIRS:
                return f"the budget leaves time for {max(rounds, 0)} rounds, and it takes {FEWEST_PAIRS}"
            arms = (plan.arm(BASELINE_ARM), _combined(plan, winners))
            conduct = replace(plan.conduct, runs=rounds, warm_up_runs=0)
            directory = self.journal.directory / TOGETHER
            directory.mkdir(exist_ok=True)
            self.together = ArmsJournal(directory, ArmsPlan(KIND, arms, conduct))
            self.together.save()
        readings = self.read(self.together)
        watcher = self.watcher(self.together, self.left)
        try:
            run_rounds(self.together, watcher, drop=lambda journal: settled_arms(journal, readings), run=self.run)
        except TrialsFail as error:
            return str(error)
        return None


def _combined(plan: ArmsPlan, winners: Sequence[Cure]) -> Arm:
    return Arm(TOGETHER, plan.arm(BASELINE_ARM).command, treatments=(FINGERPRINT, *(cure.name for cure in winners)))


def _typical(journal: ArmsJournal) -> dict[str, float]:
    took: dict[str, list[float]] = {}
    for trial in journal.trials:
        if trial.outcome != "interrupted":
            took.setdefault(trial.variant, []).append(trial.seconds)
    return {name: fmean(seconds) for name, seconds in took.items()}
