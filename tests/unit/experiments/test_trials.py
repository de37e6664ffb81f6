"""Running trials: order, failures, interruptions, resuming; and the file that remembers it all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rlprof.experiments.executor import TrialsFail, run_trials
from rlprof.experiments.journal import FILE, Journal, NoExperiment, Outcome, Plan, Trial, open_journal
from rlprof.experiments.schedule import Variant, order_of_pair

PLAN = Plan(("a.py",), ("b.py",), 4, 1, 1, None, True, 0.03)


class Quiet:
    def begins(self, pair: int, variant: Variant) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        pass


def runner(outcomes: Callable[[int, Variant], Outcome] = lambda pair, variant: "completed", log: list | None = None):
    """Stands in for running a command: says what becomes of it, and notes that it was run."""

    def run(journal: Journal, pair: int, variant: Variant, name: str) -> Trial:
        if log is not None:
            log.append((pair, variant))
        (journal.directory / name).with_suffix(".log").touch()
        outcome = outcomes(pair, variant)
        return Trial(pair, variant, name, outcome, 1 if outcome == "failed" else 0, 1.5, 0.25)

    return run


def journal(tmp_path: Path, **changes: object) -> Journal:
    return Journal(tmp_path, replace(PLAN, **changes))


def never(_: Journal) -> bool:
    return False


def test_a_warm_up_comes_first_then_the_pairs_in_their_order(tmp_path: Path) -> None:
    log: list[tuple[int, str]] = []
    found = journal(tmp_path)
    assert not run_trials(found, Quiet(), never, runner(log=log))
    assert log == [(-1, order_of_pair(1, 0)[0]), *((pair, v) for pair in range(4) for v in order_of_pair(1, pair))]
    assert [(a.variant, b.variant) for a, b in found.complete_pairs()] == [("a", "b")] * 4


def test_it_is_saved_after_every_trial(tmp_path: Path) -> None:
    seen: list[int] = []

    class Looks(Quiet):
        def ended(self, trial: Trial) -> None:
            seen.append(len(open_journal(tmp_path).trials))

    run_trials(journal(tmp_path), Looks(), never, runner())
    assert seen == list(range(1, 10))
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_it_stops_between_pairs_once_the_answer_is_settled(tmp_path: Path) -> None:
    found = journal(tmp_path, warm_up_runs=0)
    assert run_trials(found, Quiet(), lambda so_far: len(so_far.complete_pairs()) == 2, runner())
    assert [trial.pair for trial in found.trials] == [0, 0, 1, 1]


def test_a_trial_that_fails_is_kept_apart_and_costs_its_pair_only(tmp_path: Path) -> None:
    def fails(pair: int, variant: Variant) -> Outcome:
        return "failed" if (pair, variant) == (2, "b") else "timeout" if (pair, variant) == (3, "a") else "completed"

    found = journal(tmp_path)
    run_trials(found, Quiet(), never, runner(fails))
    assert len(found.trials) == 9
    assert [a.pair for a, _ in found.complete_pairs()] == [0, 1]
    log: list[tuple[int, str]] = []
    run_trials(open_journal(tmp_path), Quiet(), never, runner(log=log))
    assert log == []  # what failed is not tried again


def test_a_command_that_never_works_ends_the_experiment(tmp_path: Path) -> None:
    def one_side_fails(_: int, variant: Variant) -> Outcome:
        return "failed" if variant == "b" else "completed"

    with pytest.raises(TrialsFail, match=r"--b failed with exit code 1 2 times; what it said is in .*\.log"):
        run_trials(journal(tmp_path), Quiet(), never, runner(one_side_fails))


def test_an_interruption_loses_nothing_and_its_pair_is_run_again(tmp_path: Path) -> None:
    second = order_of_pair(1, 1)[1]

    def breaks(pair: int, variant: Variant) -> Outcome:
        return "interrupted" if (pair, variant) == (1, second) else "completed"

    with pytest.raises(KeyboardInterrupt):
        run_trials(journal(tmp_path), Quiet(), never, runner(breaks))
    resumed = open_journal(tmp_path)
    assert [trial.outcome for trial in resumed.trials] == ["completed"] * 4 + ["interrupted"]
    log: list[tuple[int, str]] = []
    run_trials(resumed, Quiet(), never, runner(log=log))
    assert log == [(pair, v) for pair in (1, 2, 3) for v in order_of_pair(1, pair)]
    assert len(resumed.complete_pairs()) == 4
    assert len({trial.recording for trial in resumed.trials}) == len(resumed.trials) == 11
    assert sum(trial.superseded for trial in resumed.trials) == 2


def test_a_journal_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    found = journal(tmp_path, timeout=3.5)
    found.trials.append(Trial(0, "a", "a-001.rlprof", "timeout", None, 3.5, None))
    found.ended_at.append(4)
    found.save()
    back = open_journal(tmp_path)
    assert (back.plan, back.trials, back.ended_at) == (found.plan, found.trials, [4])


def test_each_look_past_the_planned_end_is_counted_once(tmp_path: Path) -> None:
    found = journal(tmp_path)
    assert found.extensions(3) == 0
    found.ended_at += [4, 4]
    assert (found.extensions(4), found.extensions(6)) == (0, 1)
    found.ended_at += [8, 12, 12]
    assert (found.extensions(12), found.extensions(13)) == (2, 3)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["trials"][0].update(recording="../../etc/passwd"),
        lambda data: data["trials"][0].update(outcome="won"),
        lambda data: data["trials"][0].update(seconds="NaN"),
        lambda data: data["plan"].pop("a"),
        lambda data: data.update(schema=99),
        lambda data: data.update(trials=3),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_in_one_line(tmp_path: Path, damage: Callable[[dict], object]) -> None:
    found = journal(tmp_path)
    found.trials.append(Trial(0, "a", "a-001.rlprof", "completed", 0, 1.0, None))
    found.save()
    data = json.loads((tmp_path / FILE).read_text())
    damage(data)
    (tmp_path / FILE).write_text(json.dumps(data))
    with pytest.raises(NoExperiment):
        open_journal(tmp_path)


def test_a_folder_without_an_experiment_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoExperiment, match="there is no experiment"):
        open_journal(tmp_path)
    (tmp_path / FILE).write_text("{")
    with pytest.raises(NoExperiment, match="cannot be read"):
        open_journal(tmp_path)
