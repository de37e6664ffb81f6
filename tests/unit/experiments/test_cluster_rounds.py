"""Rounds on several machines: each round on one, a machine that dies costs its trial, an end loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct, open_arms
from rlprof.experiments.cluster import Returned
from rlprof.experiments.cluster_rounds import run_rounds_on
from rlprof.experiments.executor import TrialsFail
from rlprof.experiments.trial_process import Ended
from support.machines import Machines, Quiet, ctrl_c_after

NAMES = (BASELINE_ARM, "x", "y")


def journal(tmp_path: Path, runs: int = 4) -> ArmsJournal:
    return ArmsJournal(tmp_path, ArmsPlan("sweep", tuple(Arm(name, ("t.py",)) for name in NAMES), Conduct(runs, 3)))


def test_every_round_runs_on_one_machine_and_files_come_home(tmp_path: Path) -> None:
    machines = Machines(["one", "two"])
    found = journal(tmp_path)
    assert not run_rounds_on(machines, found, Quiet())
    for number in range(4):
        trials = [trial for trial in found.trials if trial.pair == number]
        assert sorted(trial.variant for trial in trials) == sorted(NAMES)
        assert len({trial.node for trial in trials}) == 1
    assert {trial.node for trial in found.trials} == {"one", "two"}
    assert all((tmp_path / trial.recording).read_bytes() == b"recording" for trial in found.trials)
    assert open_arms(tmp_path, "sweep").trials == found.trials
    assert [len(found.pairs(name)) for name in ("x", "y")] == [4, 4]


def test_a_machine_that_dies_costs_its_trial_and_the_rest_goes_on_elsewhere(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], lambda number: None if number == 4 else "completed")
    found = journal(tmp_path)
    run_rounds_on(machines, found, Quiet())
    lost = [trial for trial in found.trials if trial.outcome == "lost"]
    assert len(lost) == 1
    assert lost[0].node not in machines.alive
    for name in NAMES:
        assert {trial.pair for trial in found.completed(name)} == {0, 1, 2, 3}
    for name in ("x", "y"):
        assert all(base.node == arm.node for base, arm in found.pairs(name))


def test_an_arm_under_which_machines_die_again_and_again_is_given_up(tmp_path: Path) -> None:
    machines = Machines(["one"])
    machines.wait = lambda _: _falls_over(machines)  # type: ignore[method-assign]
    found = journal(tmp_path)
    run_rounds_on(machines, found, Quiet())
    assert [entry.arm for entry in found.dropped] == ["x"]
    assert "was lost with its machine 3 times" in found.dropped[0].why
    assert len(found.completed("y")) == 4


def _falls_over(machines: Machines) -> Returned:
    """A worker that is killed, for its memory for example, while its machine lives on."""
    node, arm = machines.running.pop(0)
    return Returned(node, None if arm == "x" else Ended("completed", 0, 1.0, None))


def test_no_machine_left_ends_it_with_everything_kept(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], lambda number: "completed" if number < 6 else None)
    found = journal(tmp_path)
    with pytest.raises(TrialsFail, match="no machine of the cluster is left"):
        run_rounds_on(machines, found, Quiet())
    back = open_arms(tmp_path, "sweep")
    assert sum(trial.counts for trial in back.trials) == 5
    assert machines.stopped
    run_rounds_on(Machines(["three"]), back, Quiet())
    assert [len({trial.pair for trial in back.completed(name)}) for name in NAMES] == [4, 4, 4]


def test_ctrl_c_stops_the_trials_and_notes_them(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], ctrl_c_after(4))
    with pytest.raises(KeyboardInterrupt):
        run_rounds_on(machines, journal(tmp_path), Quiet())
    assert machines.stopped
    outcomes = [trial.outcome for trial in open_arms(tmp_path, "sweep").trials]
    assert outcomes.count("completed") == 4
    assert set(outcomes[4:]) == {"interrupted"}


def test_enough_and_failures_count_as_they_do_on_one_machine(tmp_path: Path) -> None:
    found = journal(tmp_path)
    assert run_rounds_on(Machines(["one"]), found, Quiet(), enough=lambda so_far: len(so_far.trials) >= 6)
    assert len(found.trials) == 6
    (tmp_path / "b").mkdir()
    with pytest.raises(TrialsFail):
        run_rounds_on(Machines(["one", "two"], lambda _: "failed"), journal(tmp_path / "b"), Quiet())
