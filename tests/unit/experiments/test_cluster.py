"""Single trials on a cluster: files come home, and another machine takes over from one that dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct
from rlprof.experiments.cluster import NoMachine, run_arm_on
from rlprof.experiments.logbook import Trial
from support.machines import Machines, ctrl_c_after

ARM = Arm(BASELINE_ARM, ("t.py",))


def run_once(tmp_path: Path, machines: Machines) -> Trial:
    journal = ArmsJournal(tmp_path, ArmsPlan("investigate", (ARM,), Conduct(0, 1)))
    return run_arm_on(machines)(journal, -1, ARM, "first.rlprof")


def test_a_trial_runs_on_a_machine_and_its_files_come_home(tmp_path: Path) -> None:
    trial = run_once(tmp_path, Machines(["one"]))
    assert (trial.outcome, trial.node) == ("completed", "one")
    assert (tmp_path / "first.rlprof").read_bytes() == b"recording"
    assert (tmp_path / "first.log").read_bytes() == b"said"


def test_another_machine_takes_over_from_one_that_dies(tmp_path: Path) -> None:
    trial = run_once(tmp_path, Machines(["one", "two"], lambda number: None if number == 1 else "completed"))
    assert (trial.outcome, trial.node) == ("completed", "two")


def test_machines_that_all_die_are_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(NoMachine):
        run_once(tmp_path, Machines(["one", "two"], lambda _: None))


def test_a_trial_under_which_workers_die_again_and_again_is_lost(tmp_path: Path) -> None:
    machines = Machines(["one"])
    machines.alive = ["one"] * 9
    machines.becomes = lambda _: None
    assert run_once(tmp_path, machines).outcome == "lost"
    assert len(machines.log) == 3


def test_ctrl_c_ends_the_trial_and_is_noted(tmp_path: Path) -> None:
    machines = Machines(["one"], ctrl_c_after(0))
    assert run_once(tmp_path, machines).outcome == "interrupted"
    assert machines.stopped
