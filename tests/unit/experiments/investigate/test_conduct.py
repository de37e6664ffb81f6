"""The tests of a plan on several machines: all of them run there, and no machine left is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.experiments.arms import ArmsJournal, open_arms
from rlprof.experiments.cluster import NoMachine
from rlprof.experiments.investigate.case import Case, begin
from rlprof.experiments.investigate.conduct import Conductor, TimeLeft
from rlprof.experiments.investigate.parse import read_plan
from rlprof.experiments.investigate.stage import KIND
from support.investigations import PLAN
from support.machines import Machines, Quiet


class Silent(Quiet):
    def test_begins(self, name: str, journal: ArmsJournal, seconds_behind: float) -> None:
        pass


def a_case(tmp_path: Path) -> Case:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return begin(tmp_path / "exp", file, read_plan(file), 1)


def journals(case: Case) -> list[ArmsJournal]:
    return [open_arms(file.parent, KIND) for file in case.directory.glob("*/experiment.json")]


def test_the_first_look_and_all_pairs_run_on_the_machines(tmp_path: Path) -> None:
    case, machines = a_case(tmp_path), Machines(["one", "two"])
    Conductor(case, Silent(), TimeLeft(None), machines).run(list)
    found = journals(case)
    assert len(found) == 3
    assert {trial.node for journal in found for trial in journal.trials} == {"one", "two"}
    for journal in found:
        assert all(
            len({t.node for t in journal.trials if t.pair == number}) == 1 for number in range(journal.plan.runs)
        )
        assert all((journal.directory / trial.recording).exists() for trial in journal.trials)


def test_no_machine_left_ends_it_with_everything_kept_and_going_on_runs_the_rest(tmp_path: Path) -> None:
    case = a_case(tmp_path)
    machines = Machines(["one", "two"], lambda number: "completed" if number < 5 else None)
    with pytest.raises(NoMachine):
        Conductor(case, Silent(), TimeLeft(None), machines).run(list)
    kept = [trial for journal in journals(case) for trial in journal.trials if trial.outcome == "completed"]
    assert len(kept) == 4
    Conductor(case, Silent(), TimeLeft(None), Machines(["three"])).run(list)
    after = [trial for journal in journals(case) for trial in journal.trials]
    assert all(trial in after for trial in kept)
    assert [len({t.pair for t in j.completed("change")}) for j in journals(case) if j.plan.runs] == [5, 5]
