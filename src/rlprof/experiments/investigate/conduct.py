"""Runs the tests of a plan: a first look, each hypothesis in turn, then those that help together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final, Protocol

from rlprof.experiments.arm_comparisons import Readings
from rlprof.experiments.arms import ArmsJournal, Conduct
from rlprof.experiments.cluster import Cluster, NoMachine, run_arm_on
from rlprof.experiments.cluster_rounds import run_rounds_on
from rlprof.experiments.executor import TrialsFail, Watcher
from rlprof.experiments.investigate.case import Case
from rlprof.experiments.investigate.combine import Team
from rlprof.experiments.investigate.outcomes import ends_test
from rlprof.experiments.investigate.stage import CHANGE_ARM, Stage, baseline_failure, is_done
from rlprof.experiments.logbook import Trial
from rlprof.experiments.rounds import Drop, run_rounds
from rlprof.experiments.statistics import FEWEST_PAIRS

#: A trial that takes so many times as long as the program does as it is helps nobody, and may never end.
LONGEST: Final = 5.0
SHORTEST_LIMIT: Final = 60.0


class Audience(Watcher, Protocol):
    """Is also told which test begins, and how many seconds the tests behind it will take at most."""

    def test_begins(self, name: str, journal: ArmsJournal, seconds_behind: float) -> None: ...


class TimeLeft:
    """How much longer trials may go on."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = math.inf if seconds is None else clock() + seconds
        self.is_limited = seconds is not None
        self.is_spent = False

    def allows(self, seconds: float) -> bool:
        """Whether there is room for something that takes so long; that there was none is remembered."""
        if self._clock() + seconds <= self._end:
            return True
        self.is_spent = True
        return False


@dataclass(frozen=True, slots=True)
class Test:
    """One of `planned` tests, with so many `behind` it."""

    stage: Stage
    may_learn_otherwise: bool
    planned: int
    behind: int


class Conductor:
    """One session of an investigation. `teams` says which changes help together once all have been tested."""

    def __init__(self, case: Case, audience: Audience, time_left: TimeLeft, cluster: Cluster | None = None) -> None:
        self._case = case
        self._audience = audience
        self._time_left = time_left
        self._cluster = cluster  # None is this machine
        self._typical = 0.0  # seconds of a run of the program as it is
        self._reserve = 0.0  # seconds that are kept for what comes later
        self._limit: float | None = None  # seconds that a run may take

    def run(self, teams: Callable[[], list[Team]]) -> None:
        """Run whatever is missing. A KeyboardInterrupt passes through with everything saved."""
        self._look(self._case.first_look())
        tests = self._case.tested()
        for at, hypothesis in enumerate(tests):
            self._reserve = self._time_together(teams) if self._time_left.is_limited else 0.0
            may = hypothesis.changes_learning or hypothesis.is_diagnosis
            self._test(Test(self._case.stage(hypothesis), may, len(tests), len(tests) - at - 1))
        self._reserve = 0.0
        self._together(teams())

    def _together(self, teams: list[Team]) -> None:
        """What helps, at once. The baseline of that may take longer, so it is looked at first."""
        longer = self._case.first_look_together() if teams else None
        try:
            if longer is not None and (longer.exists() or self._time_left.allows(self._shortest_test())):
                self._look(longer)
            for at, team in enumerate(teams):
                self._test(Test(self._case.team_stage(team), team.changes_learning, 1, len(teams) - at - 1))
        except NoMachine:
            raise
        except TrialsFail:
            pass  # what was found about each alone stands all the same

    def _conduct(self, runs: int, warm_up_runs: int = 0) -> Conduct:
        settings = self._case.plan.settings
        return Conduct(runs, self._case.seed, warm_up_runs, self._limit, early_stop=True, margin=settings.margin)

    def _look(self, stage: Stage) -> None:
        """Warm up by the program as it is, and see that it works and how long it takes."""
        settings = self._case.plan.settings
        self._limit = settings.timeout
        journal = stage.begun(self._conduct(0, max(settings.warm_up_runs, 1)))
        if not any(trial.outcome == "completed" for trial in journal.trials):
            journal.trials.clear()  # what did not work before may work now
            self._audience.test_begins(stage.name, journal, 0.0)
            run_rounds(journal, self._audience, run=run_arm_on(self._cluster) if self._cluster else None)
        worked = [trial.seconds for trial in journal.trials if trial.outcome == "completed"]
        if not worked:
            raise TrialsFail(_why_baseline_fails(journal.directory, journal.trials[-1]))
        self._typical = fmean(worked)
        self._limit = settings.timeout or max(LONGEST * max(worked), SHORTEST_LIMIT)

    def _test(self, test: Test) -> None:
        runs, stage = self._case.plan.settings.runs, test.stage
        journal = stage.opened()
        if journal is None and not self._time_left.allows(self._shortest_test() + self._reserve):
            return
        journal = stage.begun(self._conduct(runs))
        if baseline_failure(journal) is not None:  # what did not work before may work now
            journal.trials.clear()
            journal.dropped.clear()
        if is_done(journal):
            return
        self._audience.test_begins(stage.name, journal, 2 * runs * test.behind * self._typical)
        try:
            drop = ends_test(Readings(journal), test.planned, may_learn_otherwise=test.may_learn_otherwise)
            stopped = self._run_pairs(journal, drop)
            if not stopped and not journal.ended_at:
                journal.ended_at.append(len(journal.pairs(CHANGE_ARM)))
                journal.save()
        except NoMachine:
            raise
        except TrialsFail:
            broken = baseline_failure(journal)
            if broken is not None:  # then it is not the change that fails
                raise TrialsFail(_why_baseline_fails(journal.directory, broken)) from None

    def _run_pairs(self, journal: ArmsJournal, drop: Drop) -> bool:
        if self._cluster is None:
            return run_rounds(journal, self._audience, drop=drop, enough=self._has_enough)
        return run_rounds_on(self._cluster, journal, self._audience, drop=drop, enough=self._has_enough)

    def _has_enough(self, journal: ArmsJournal) -> bool:
        took = [trial.seconds for trial in journal.trials if trial.variant == CHANGE_ARM]
        return not self._time_left.allows(self._typical + (fmean(took) if took else self._typical) + self._reserve)

    def _shortest_test(self) -> float:
        """Seconds of a test with as many pairs as a verdict takes, if the change brings nothing."""
        return 2 * min(FEWEST_PAIRS, self._case.plan.settings.runs) * self._typical

    def _time_together(self, teams: Callable[[], list[Team]]) -> float:
        """What helps together is worth more than one hypothesis more: time is kept for it once there are two."""
        missing = [team for team in teams() if not self._case.team_stage(team).exists()]
        return self._shortest_test() if missing else 0.0


def _why_baseline_fails(directory: Path, trial: Trial) -> str:
    log = directory / Path(trial.recording).with_suffix(".log")
    how = "did not end in time" if trial.outcome == "timeout" else f"failed with exit code {trial.exit_code}"
    return f"the program as it is {how}; what it said is in {log}"
