"""Rounds on several machines: each round on one, a machine that dies costs its trial, an end loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct, open_arms
from rlprof.experiments.cluster_rounds import ClusterRounds, Returned
from rlprof.experiments.executor import TrialsFail
from rlprof.experiments.logbook import Outcome, Trial
from rlprof.experiments.trial_process import Ended

NAMES = (BASELINE_ARM, "x", "y")


class Quiet:
    def begins(self, pair: int, variant: str) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        pass


class Machines:
    """Stands in for a cluster. `becomes` says what becomes of the nth trial: an outcome, or None if its node dies."""

    def __init__(self, nodes: Sequence[str], becomes: Callable[[int], Outcome | None] = lambda _: "completed") -> None:
        self.alive = list(nodes)
        self.running: list[tuple[str, str]] = []
        self.log: list[tuple[str, str]] = []
        self.becomes = becomes
        self.stopped = False

    def nodes(self) -> Sequence[str]:
        return list(self.alive)

    def start(self, node: str, arm: Arm, timeout: float | None) -> None:
        assert node not in [busy for busy, _ in self.running], "one trial per machine at a time"
        self.running.append((node, arm.name))
        self.log.append((node, arm.name))

    def wait(self, seconds: float) -> Returned | None:
        node, _ = self.running.pop(0)
        outcome = self.becomes(len(self.log) - len(self.running))
        if outcome is None:
            self.alive.remove(node)
            return Returned(node, None)
        files = {".rlprof": b"recording", ".log": b"said"} if outcome == "completed" else {".log": b"said"}
        return Returned(node, Ended(outcome, 1 if outcome == "failed" else 0, 1.0, None), files)

    def stop(self) -> None:
        self.stopped = True


def journal(tmp_path: Path, runs: int = 4) -> ArmsJournal:
    return ArmsJournal(tmp_path, ArmsPlan("sweep", tuple(Arm(name, ("t.py",)) for name in NAMES), Conduct(runs, 3)))


def test_every_round_runs_on_one_machine_and_files_come_home(tmp_path: Path) -> None:
    machines = Machines(["one", "two"])
    found = journal(tmp_path)
    assert not ClusterRounds(found, Quiet(), machines).run()
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
    ClusterRounds(found, Quiet(), machines).run()
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
    ClusterRounds(found, Quiet(), machines).run()
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
        ClusterRounds(found, Quiet(), machines).run()
    back = open_arms(tmp_path, "sweep")
    assert sum(trial.counts for trial in back.trials) == 5
    assert machines.stopped
    ClusterRounds(back, Quiet(), Machines(["three"])).run()
    assert [len({trial.pair for trial in back.completed(name)}) for name in NAMES] == [4, 4, 4]


def test_ctrl_c_stops_the_trials_and_notes_them(tmp_path: Path) -> None:
    def breaks(number: int) -> Outcome:
        if number > 4:
            raise KeyboardInterrupt
        return "completed"

    machines = Machines(["one", "two"], breaks)
    with pytest.raises(KeyboardInterrupt):
        ClusterRounds(journal(tmp_path), Quiet(), machines).run()
    assert machines.stopped
    outcomes = [trial.outcome for trial in open_arms(tmp_path, "sweep").trials]
    assert outcomes.count("completed") == 4
    assert set(outcomes[4:]) == {"interrupted"}


def test_enough_and_failures_count_as_they_do_on_one_machine(tmp_path: Path) -> None:
    found = journal(tmp_path)
    assert ClusterRounds(found, Quiet(), Machines(["one"])).run(enough=lambda so_far: len(so_far.trials) >= 6)
    assert len(found.trials) == 6
    (tmp_path / "b").mkdir()
    with pytest.raises(TrialsFail):
        ClusterRounds(journal(tmp_path / "b"), Quiet(), Machines(["one", "two"], lambda _: "failed")).run()
