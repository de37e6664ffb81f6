"""Rounds of many arms: order, failures, drops, interruptions, resuming; and the file that remembers it all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.arms import (
    BASELINE_ARM,
    TREATMENTS_VARIABLE,
    Arm,
    ArmsJournal,
    ArmsPlan,
    Conduct,
    Dropped,
    open_arms,
)
from rlprof.experiments.executor import TrialsFail
from rlprof.experiments.journal import open_journal
from rlprof.experiments.logbook import FILE, NoExperiment, Outcome, Trial
from rlprof.experiments.rounds import RunArm, run_rounds, seconds_left
from rlprof.experiments.schedule import order_of_round
from rlprof.model.errors import BadOption

NAMES = (BASELINE_ARM, "threads=1", "batched-push", "compiled")


class Quiet:
    def begins(self, pair: int, variant: str) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        pass


def journal(tmp_path: Path, names: tuple[str, ...] = NAMES, runs: int = 3, warm_up_runs: int = 0) -> ArmsJournal:
    arms = tuple(Arm(name, ("train.py",)) for name in names)
    return ArmsJournal(tmp_path, ArmsPlan("sweep", arms, Conduct(runs, seed=1, warm_up_runs=warm_up_runs)))


def runner(
    outcomes: Callable[[int, str], Outcome] = lambda number, arm: "completed", log: list[tuple[int, str]] | None = None
) -> RunArm:
    """Stands in for running a program: says what becomes of it, and notes that it was run."""

    def run(found: ArmsJournal, number: int, arm: Arm, name: str) -> Trial:
        if log is not None:
            log.append((number, arm.name))
        (found.directory / name).with_suffix(".log").touch()
        outcome = outcomes(number, arm.name)
        return Trial(number, arm.name, name, outcome, 1 if outcome == "failed" else None, 2.0, None)

    return run


@given(st.integers(0, 2**31), st.integers(0, 30), st.integers(2, 9))
def test_a_round_holds_every_arm_once_and_the_next_runs_backwards(seed: int, twos: int, arms: int) -> None:
    names = [str(number) for number in range(arms)]
    order = order_of_round(seed, 2 * twos, names)
    assert sorted(order) == names
    assert order_of_round(seed, 2 * twos + 1, names) == order[::-1]
    assert order_of_round(seed, 2 * twos, names) == order


def test_every_round_runs_every_arm_in_its_order_after_the_warm_up(tmp_path: Path) -> None:
    log: list[tuple[int, str]] = []
    found = journal(tmp_path, warm_up_runs=1)
    assert not run_rounds(found, Quiet(), run=runner(log=log))
    expected = [(number, name) for number in range(3) for name in order_of_round(1, number, NAMES)]
    assert log == [(-1, BASELINE_ARM), *expected]
    assert [len(found.pairs(name)) for name in NAMES[1:]] == [3, 3, 3]
    assert seconds_left(found) == 0


def test_everything_is_saved_after_every_trial_and_comes_back_as_it_was(tmp_path: Path) -> None:
    seen: list[int] = []

    class Looks(Quiet):
        def ended(self, trial: Trial) -> None:
            seen.append(len(open_arms(tmp_path, "sweep").trials))

    arm = Arm("x", ("-m", "train"), {"A": "1"}, ("amp",), ("--no-memory",), (0,))
    plan = ArmsPlan("sweep", (arm, Arm("y", ("t.py",))), Conduct(2, 7, 0, 3.5, True, 0.1), {"grid": [1, 2]})
    found = ArmsJournal(tmp_path, plan)
    run_rounds(found, Looks(), run=runner())
    back = open_arms(tmp_path, "sweep")
    assert seen == [1, 2, 3, 4]
    assert (back.plan, back.trials, back.dropped) == (plan, found.trials, [])
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_an_arm_that_never_works_is_dropped_and_the_others_go_on(tmp_path: Path) -> None:
    def fails(_: int, arm: str) -> Outcome:
        return "failed" if arm == "compiled" else "timeout" if arm == "threads=1" else "completed"

    found = journal(tmp_path)
    run_rounds(found, Quiet(), run=runner(fails))
    assert {entry.arm for entry in found.dropped} == {"compiled", "threads=1"}
    assert not any(entry.settled for entry in found.dropped)
    assert len(found.trials) == 2 * 3 + 2 * 2
    assert len(found.pairs("batched-push")) == 3
    reasons = {entry.arm: entry.why for entry in open_arms(tmp_path, "sweep").dropped}
    assert reasons["compiled"].startswith("failed with exit code 1 2 times; what it said is in ")
    assert reasons["threads=1"].startswith("ran into the time limit 2 times")


def test_one_failure_costs_its_pair_only_and_is_not_tried_again(tmp_path: Path) -> None:
    def fails(number: int, arm: str) -> Outcome:
        return "failed" if (number, arm) == (1, "compiled") else "completed"

    found = journal(tmp_path)
    run_rounds(found, Quiet(), run=runner(fails))
    assert [arm.pair for _, arm in found.pairs("compiled")] == [0, 2]
    log: list[tuple[int, str]] = []
    run_rounds(open_arms(tmp_path, "sweep"), Quiet(), run=runner(log=log))
    assert log == []


def test_a_baseline_that_never_works_ends_the_experiment(tmp_path: Path) -> None:
    with pytest.raises(TrialsFail, match=r"the program as it is failed with exit code 1 2 times"):
        run_rounds(
            journal(tmp_path), Quiet(), run=runner(lambda _, arm: "failed" if arm == BASELINE_ARM else "completed")
        )


def test_arms_of_which_none_works_end_the_experiment(tmp_path: Path) -> None:
    with pytest.raises(TrialsFail, match="no arm works"):
        run_rounds(journal(tmp_path, ("a", "b")), Quiet(), run=runner(lambda *_: "failed"))


def test_an_arm_may_be_dropped_between_rounds_and_stays_dropped(tmp_path: Path) -> None:
    def drop(so_far: ArmsJournal) -> list[Dropped]:
        return [Dropped("compiled", "its answer is clear", True)] if so_far.completed("compiled") else []

    found = journal(tmp_path)
    assert not run_rounds(found, Quiet(), drop=drop, run=runner())
    assert len(found.completed("compiled")) == 1
    assert len(found.completed("batched-push")) == 3
    back = open_arms(tmp_path, "sweep")
    assert back.active() == (BASELINE_ARM, "threads=1", "batched-push")
    assert [entry.settled for entry in back.dropped] == [True]


def test_it_ends_when_every_arm_was_dropped_or_enough_was_measured(tmp_path: Path) -> None:
    def drop(so_far: ArmsJournal) -> list[Dropped]:
        return [Dropped(name, "clear", True) for name in NAMES[1:]] if so_far.trials else []

    found = journal(tmp_path)
    assert run_rounds(found, Quiet(), drop=drop, run=runner())
    assert len(found.trials) == len(NAMES)
    (tmp_path / "other").mkdir()
    other = journal(tmp_path / "other")
    assert run_rounds(other, Quiet(), enough=lambda so_far: len(so_far.trials) >= 8, run=runner())
    assert len(other.trials) == 8


@pytest.mark.parametrize("broken_at", range(4))
def test_a_broken_round_is_finished_with_a_baseline_of_its_own_time(tmp_path: Path, broken_at: int) -> None:
    order = order_of_round(1, 1, NAMES)

    def breaks(number: int, arm: str) -> Outcome:
        return "interrupted" if (number, arm) == (1, order[broken_at]) else "completed"

    with pytest.raises(KeyboardInterrupt):
        run_rounds(journal(tmp_path), Quiet(), run=runner(breaks))
    resumed = open_arms(tmp_path, "sweep")
    assert [trial.outcome for trial in resumed.trials] == ["completed"] * (4 + broken_at) + ["interrupted"]
    run_rounds(resumed, Quiet(), run=runner())
    for name in NAMES[1:]:
        assert [arm.pair for _, arm in resumed.pairs(name)] == [0, 1, 2]
    baselines = [
        trial for trial in resumed.trials if trial.pair == 1 and trial.counts and trial.variant == BASELINE_ARM
    ]
    assert len(baselines) == (2 if order.index(BASELINE_ARM) < broken_at else 1)
    late = [pair for name in order[broken_at:] for pair in resumed.pairs(name) if pair[1].pair == 1]
    assert all(base.session == arm.session == 1 for base, arm in late)
    assert len({trial.recording for trial in resumed.trials}) == len(resumed.trials)


def test_time_left_follows_what_each_arm_took(tmp_path: Path) -> None:
    found = journal(tmp_path, ("short", "long"), runs=3)
    assert seconds_left(found) is None
    found.trials += [
        Trial(0, "short", "a", "completed", 0, 1.0, None),
        Trial(0, "long", "b", "completed", 0, 10.0, None),
    ]
    assert seconds_left(found) == pytest.approx(22.0)


@pytest.mark.parametrize("name", ["", "../x", "a b", ".hidden", "a/b", "x" * 100])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(BadOption):
        Arm(name, ("train.py",))


def test_two_arms_of_one_name_are_refused() -> None:
    with pytest.raises(BadOption, match="two arms have one name"):
        ArmsPlan("sweep", (Arm("a", ("t.py",)), Arm("A", ("t.py",))), Conduct(1, 1))


def test_treatments_reach_the_trial_as_a_list_in_its_environment() -> None:
    arm = Arm(
        "x", ("train.py",), {"OMP_NUM_THREADS": "1"}, treatments=("threads=1", "no-grad"), run_options=("--no-memory",)
    )
    environment = arm.surroundings().environment
    assert json.loads(environment[TREATMENTS_VARIABLE]) == ["threads=1", "no-grad"]
    assert environment["OMP_NUM_THREADS"] == "1"
    assert arm.words() == ("--no-memory", "train.py")
    assert TREATMENTS_VARIABLE not in Arm("y", ("train.py",)).surroundings().environment


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["trials"][0].update(recording="../../etc/passwd"),
        lambda data: data["trials"][0].update(variant="nobody"),
        lambda data: data["plan"].pop("arms"),
        lambda data: data["plan"]["arms"][0].update(name="../x"),
        lambda data: data["plan"]["arms"][0].update(command="train.py"),
        lambda data: data["plan"]["arms"][0].update(environment=3),
        lambda data: data["plan"]["conduct"].update(timeout="NaN"),
        lambda data: data.update(dropped=3),
        lambda data: data.update(kind="investigate"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_in_one_line(tmp_path: Path, damage: Callable[[dict], object]) -> None:
    run_rounds(journal(tmp_path), Quiet(), run=runner())
    data = json.loads((tmp_path / FILE).read_text())
    damage(data)
    (tmp_path / FILE).write_text(json.dumps(data))
    with pytest.raises(NoExperiment):
        open_arms(tmp_path, "sweep")


def test_a_comparison_refuses_another_commands_experiment_and_says_whose_it_is(tmp_path: Path) -> None:
    run_rounds(journal(tmp_path), Quiet(), run=runner())
    with pytest.raises(NoExperiment, match="rlprof sweep --resume"):
        open_journal(tmp_path)
