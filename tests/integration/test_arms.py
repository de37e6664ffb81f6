"""Rounds of arms with real programs: one that is faster by its environment, one that does less."""

from __future__ import annotations

import pytest

from rlprof.experiments.arm_comparisons import Readings, compare_arms, settled_arms
from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct
from rlprof.experiments.logbook import Trial
from rlprof.experiments.rounds import run_rounds
from rlprof.experiments.same_work import judge_work, work_of
from support.programs import write_program
from support.training import SLEEPY

pytestmark = pytest.mark.timed


class Quiet:
    def begins(self, pair: int, variant: str) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        pass


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> ArmsJournal:
    folder = tmp_path_factory.mktemp("arms")
    train = str(write_program(folder, SLEEPY, "train.py"))
    slow = (train, "--update-ms", "20", "--turns")
    arms = (
        Arm(BASELINE_ARM, (*slow, "12")),
        Arm("quick-update", (train, "--turns", "12"), {"UPDATE_MS": "2"}),
        Arm("half", (*slow, "6")),
    )
    plan = ArmsPlan("sweep", arms, Conduct(5, seed=2, warm_up_runs=0, early_stop=True))
    journal = ArmsJournal(folder, plan)
    journal.save()
    run_rounds(journal, Quiet())
    return journal


def test_an_arm_is_compared_with_the_baseline_by_rounds_and_by_phase(experiment: ArmsJournal) -> None:
    found = compare_arms(experiment)
    quick = found["quick-update"]
    assert (quick.pairs, quick.overall.verdict) == (5, "faster")
    assert quick.sps is not None
    assert quick.sps.candidate > 1.3 * quick.sps.baseline
    phases = {row.phase: row for row in quick.phases}
    assert phases["learn.loss"].verdict == "faster"
    assert (quick.baseline.name, quick.candidate.name) == (BASELINE_ARM, "quick-update")


def test_an_arm_that_does_less_is_called_that(experiment: ArmsJournal) -> None:
    readings = Readings(experiment)
    work = {
        name: [work_of(readings.recording(trial)) for trial in experiment.completed(name)]
        for name in (BASELINE_ARM, "half", "quick-update")
    }
    assert judge_work(work[BASELINE_ARM], work["half"]).kind == "less"
    assert judge_work(work[BASELINE_ARM], work["quick-update"]).is_same


def test_only_arms_with_an_answer_are_settled(experiment: ArmsJournal) -> None:
    settled = {entry.arm for entry in settled_arms(experiment, Readings(experiment))}
    assert settled <= {"quick-update", "half"}
