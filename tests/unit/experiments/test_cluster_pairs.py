"""Comparisons on several machines: each pair on one, a machine that dies costs its trial, an end loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.experiments.cluster import NoMachine
from rlprof.experiments.cluster_pairs import run_pairs_on
from rlprof.experiments.executor import TrialsFail
from rlprof.experiments.journal import Journal, Plan, open_journal
from support.machines import Machines, Quiet, ctrl_c_after


def journal(tmp_path: Path, runs: int = 4) -> Journal:
    return Journal(tmp_path, Plan(("a.py",), ("b.py",), runs, 1, 1, None, True, 0.03))


def never(_: Journal) -> bool:
    return False


def assert_pairs_are_whole(found: Journal, pairs: int) -> None:
    whole = found.complete_pairs()
    assert len(whole) == pairs
    assert all(a.node == b.node for a, b in whole)


def test_every_pair_runs_on_one_machine_and_files_come_home(tmp_path: Path) -> None:
    machines = Machines(["one", "two"])
    found = journal(tmp_path)
    assert not run_pairs_on(machines, found, Quiet(), never)
    assert_pairs_are_whole(found, 4)
    assert {trial.node for trial in found.trials} == {"one", "two"}
    assert all((tmp_path / trial.recording).read_bytes() == b"recording" for trial in found.trials)
    assert open_journal(tmp_path).trials == found.trials


def test_a_machine_that_dies_costs_its_trial_and_its_pair_runs_elsewhere(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], lambda number: None if number == 4 else "completed")
    found = journal(tmp_path)
    run_pairs_on(machines, found, Quiet(), never)
    assert [trial.outcome for trial in found.trials].count("lost") == 1
    assert_pairs_are_whole(found, 4)
    assert open_journal(tmp_path).trials == found.trials


def test_half_a_pair_of_a_machine_that_died_stays_on_record_but_does_not_count(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], lambda number: None if number == 3 else "completed")
    found = journal(tmp_path)
    run_pairs_on(machines, found, Quiet(), never)
    halves = [trial for trial in found.trials if trial.outcome == "completed" and trial.superseded]
    assert len(halves) == 1
    assert (tmp_path / halves[0].recording).exists()
    assert_pairs_are_whole(found, 4)


def test_no_machine_left_ends_it_with_everything_kept_and_resuming_goes_on(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], lambda number: "completed" if number < 6 else None)
    with pytest.raises(NoMachine, match="no machine of the cluster is left"):
        run_pairs_on(machines, journal(tmp_path), Quiet(), never)
    back = open_journal(tmp_path)
    before = back.complete_pairs()
    assert len(before) == 2
    run_pairs_on(Machines(["three"]), back, Quiet(), never)
    assert_pairs_are_whole(back, 4)
    assert back.complete_pairs()[:2] == before


def test_ctrl_c_stops_the_trials_and_notes_them(tmp_path: Path) -> None:
    machines = Machines(["one", "two"], ctrl_c_after(4))
    with pytest.raises(KeyboardInterrupt):
        run_pairs_on(machines, journal(tmp_path), Quiet(), never)
    assert machines.stopped
    outcomes = [trial.outcome for trial in open_journal(tmp_path).trials]
    assert outcomes.count("completed") == 4
    assert set(outcomes[4:]) == {"interrupted"}


def test_a_settled_comparison_begins_no_further_pair_but_ends_those_begun(tmp_path: Path) -> None:
    found = journal(tmp_path, runs=9)
    assert run_pairs_on(Machines(["one", "two"]), found, Quiet(), lambda so_far: len(so_far.complete_pairs()) >= 3)
    assert_pairs_are_whole(found, len(found.trials) // 2)
    assert len(found.complete_pairs()) < 9


def test_a_side_that_never_works_ends_it(tmp_path: Path) -> None:
    with pytest.raises(TrialsFail, match="failed with exit code 1 2 times"):
        run_pairs_on(Machines(["one"], lambda _: "failed"), journal(tmp_path), Quiet(), never)
