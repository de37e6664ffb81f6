"""Trying cures: which are dropped and when, which win, whether results stay the same, and what the time is spent on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from rlprof.cli.cures import candidates, cure_of, list_cures
from rlprof.cli.duration import parse_duration
from rlprof.experiments.arm_comparisons import Readings
from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, Conduct, open_arms
from rlprof.experiments.logbook import Outcome, Trial
from rlprof.experiments.quickwins import KIND, TOGETHER, Trying, arm_name, plan_of
from rlprof.experiments.quickwins_result import quickwins_of, together_of, tried_cures, winners_of
from rlprof.experiments.same_results import Upshot, judge_results
from rlprof.model.errors import BadOption
from rlprof.model.quickwins import QuickWins
from rlprof.model.recording import Recording
from rlprof.render.quickwins_markdown import render_quickwins_markdown
from rlprof.render.quickwins_terminal import render_quickwins_text
from rlprof.treat.registry import KINDS
from support.recordings import a_recording


class Quiet:
    def __init__(self, journal: ArmsJournal, left: Callable[[], float]) -> None: ...

    def begins(self, pair: int, variant: str) -> None: ...

    def ended(self, trial: Trial) -> None: ...


@dataclass
class Program:
    """Stands in for a program: how fast each cure makes it, what it leaves undone, and what it comes to."""

    speeds: Mapping[str, float]
    idle: Mapping[str, str] = field(default_factory=dict)
    fails: tuple[str, ...] = ()
    weights: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    ran: list[str] = field(default_factory=list)

    def run(self, journal: ArmsJournal, number: int, arm: Arm, name: str) -> Trial:
        self.ran.append(arm.name)
        (journal.directory / name).with_suffix(".log").touch()
        outcome: Outcome = "failed" if arm.name in self.fails else "completed"
        return Trial(number, arm.name, name, outcome, 1 if outcome == "failed" else 0, 10.0, 0.0)

    def recording(self, journal: ArmsJournal, trial: Trial) -> Recording:
        cures = journal.plan.arm(trial.variant).treatments[1:]
        chance = random.Random(trial.recording)
        seconds = 10.0 * chance.uniform(0.995, 1.005)
        for cure in cures:
            seconds /= self.speeds.get(cure, 1.0)
        weights = next((self.weights[cure] for cure in cures if cure in self.weights), "w")
        facts: dict[str, Any] = {
            "treatments": [{"text": c, "applied": c not in self.idle, "why": self.idle.get(c)} for c in cures],
            "fingerprint": {"weights": weights if self.repeatable else trial.recording, "optimizers": 1},
        }
        steps = [(0.0, seconds, 1000.0)]
        return a_recording(seconds, source=trial.recording, facts=facts).counter_slices("env_steps", steps).build()


def tried_on(program: Program, folder: Path, texts: list[str], budget: float = 3600.0, **asked: bool) -> QuickWins:
    cures = [cure_of(text) for text in texts]
    plan = plan_of(["train.py"], cures, Conduct(30, seed=3, early_stop=True), {})
    journal = ArmsJournal(folder, plan)

    class FromProgram(Readings):
        def __init__(self, journal: ArmsJournal) -> None:
            super().__init__(journal)
            self._own = journal

        def recording(self, trial: Trial) -> Recording:
            if trial.recording not in self._opened:
                self._opened[trial.recording] = program.recording(self._own, trial)
            return self._opened[trial.recording]

    trying = Trying(journal, budget, Quiet, program.run, read=FromProgram)
    trying.warm_up()
    trying.single_cures()
    tried = tried_cures(trying, cures)
    winners = winners_of(tried, also_other_results=asked.get("also", False))
    why_not = trying.combine(winners) if len(winners) > 1 else None
    return quickwins_of(trying, tried, together_of(trying, winners, why_not), ["train.py"])


TEXTS = ["threads=1", "inference-mode", "no-validate", "gc-freeze", "serial-vecenv"]


def test_winners_are_proven_and_combined_and_the_rest_is_said(tmp_path: Path) -> None:
    program = Program(
        {"threads=1": 1.3, "gc-freeze": 1.15}, {"serial-vecenv": "no workers"}, ("inference-mode",)
    )  # fmt: skip
    found = tried_on(program, tmp_path, TEXTS)
    states = {tried.cure.name: (tried.state, tried.gain.verdict if tried.gain else None) for tried in found.cures}
    assert states == {
        "threads=1": ("measured", "faster"),
        "inference-mode": ("failed", None),
        "no-validate": ("dropped", "cannot-tell"),
        "gc-freeze": ("measured", "faster"),
        "serial-vecenv": ("nothing-to-do", None),
    }
    together = found.together
    assert together is not None
    assert together.gain is not None
    assert together.gain.ratio == pytest.approx(1.3 * 1.15, rel=0.02)
    assert (together.cures, together.gain.verdict) == (("threads=1", "gc-freeze"), "faster")
    assert {tried.results.kind for tried in found.cures if tried.results} == {"same"}
    text = render_quickwins_text(found)
    assert text.count("2 cures together make it 1.49x as fast") == 1
    assert "torch.set_num_threads(1)" in text
    assert "serial-vecenv has nothing to do here: no workers" in text
    assert "weights at the end, bit by bit" in text
    assert "| **all together** | 1.49x | " in render_quickwins_markdown(found)


def test_what_has_nothing_to_do_or_breaks_runs_once_and_what_gains_nothing_soon_stops(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.04}, {"serial-vecenv": "no workers"}, ("inference-mode",))
    tried_on(program, tmp_path, TEXTS)
    runs = {name: program.ran.count(arm_name(name)) for name in TEXTS}
    assert runs["serial-vecenv"] == runs["inference-mode"] == 1
    assert 3 <= runs["no-validate"] <= 5
    assert runs["threads=1"] > runs["no-validate"]


def test_the_budget_is_kept_and_said_to_be_short(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.3, "gc-freeze": 1.2})
    found = tried_on(program, tmp_path, ["threads=1", "gc-freeze"], budget=105.0)
    assert found.spent_seconds <= 105.0
    assert [tried.gain.verdict for tried in found.cures if tried.gain] == ["cannot-tell", "cannot-tell"]
    assert "few-rounds" in {warning.code for warning in found.warnings}
    assert not found.winners


def test_time_is_kept_for_the_winners_together(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.3, "gc-freeze": 1.2})
    found = tried_on(program, tmp_path, ["threads=1", "gc-freeze"], budget=10.0 * (1 + 5 * 3 + 5 * 2))
    assert found.together is not None
    assert found.together.state == "measured"
    assert found.spent_seconds <= 10.0 * 26
    assert len(open_arms(tmp_path / TOGETHER, KIND).completed(BASELINE_ARM)) == 5


def test_no_time_is_kept_for_the_winners_before_there_can_be_one(tmp_path: Path) -> None:
    """Enough for five rounds and no more: a verdict for each, and nothing left over."""
    program = Program({"threads=1": 1.3, "gc-freeze": 1.2})
    found = tried_on(program, tmp_path, ["threads=1", "gc-freeze"], budget=10.0 * (1 + 5 * 3))
    assert [tried.gain.verdict for tried in found.cures if tried.gain] == ["faster", "faster"]
    assert found.spent_seconds == 10.0 * (1 + 5 * 3)


def test_a_cure_with_other_results_is_no_part_of_the_combination_unless_asked_for(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.3, "gc-freeze": 1.2, "no-validate": 1.2}, weights={"threads=1": "other"})
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found = tried_on(program, tmp_path / "a", ["threads=1", "gc-freeze", "no-validate"])
    assert found.together is not None
    assert found.together.cures == ("gc-freeze", "no-validate")
    assert "threads=1 is no part of the combination: it comes to other results" in render_quickwins_text(found)
    results = {tried.cure.name: tried.results.text for tried in found.cures if tried.results}
    assert results["threads=1"] == "other results: other weights at the end"
    also = tried_on(program, tmp_path / "b", ["threads=1", "gc-freeze", "no-validate"], also=True)
    assert also.together is not None
    assert "threads=1" in also.together.cures


def test_of_cures_that_exclude_each_other_the_faster_one_is_taken(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.3, "threads=2": 1.2, "gc-freeze": 1.2})
    found = tried_on(program, tmp_path, ["threads=1", "threads=2", "gc-freeze"])
    assert found.together is not None
    assert found.together.cures == ("threads=1", "gc-freeze")
    said = "threads=2 is no part of the combination: it and a faster one exclude each other"
    assert said in render_quickwins_text(found)


def test_results_of_a_program_that_is_not_repeatable_are_not_checked(tmp_path: Path) -> None:
    found = tried_on(Program({"threads=1": 1.3}, repeatable=False), tmp_path, ["threads=1"])
    (tried,) = found.cures
    assert tried.results is not None
    assert tried.results.text == "not checked: the program is not repeatable, two runs of it as it is differ"
    assert found.winners == (tried,)


def test_results_are_compared_by_what_both_sides_know() -> None:
    base = Upshot({"env_steps": 10.0, "episodes": 2.0}, 3.5, "w")
    assert judge_results([base, base], [replace(base, returns=None)]).kind == "same"
    other = judge_results([base, base], [base, replace(base, counts={"env_steps": 10.0, "episodes": 3.0}, returns=4.0)])
    assert other.text == "other results: 3 episodes instead of 2, other returns"
    assert judge_results([base], [base]).kind == "unchecked"
    assert judge_results([Upshot({}, None, None)] * 2, [base]).kind == "unchecked"


def test_harmless_cures_are_tried_unasked_and_the_others_when_asked_for() -> None:
    usual, everything = candidates(range(8), everything=False), candidates(range(8), everything=True)
    assert not any(cure.changes_results for cure in usual)
    assert {cure.name for cure in usual} < {cure.name for cure in everything}
    assert {"threads=1", "threads=4", "start-method=fork", "affinity=0,1,2,3"} <= {cure.name for cure in usual}
    assert [cure.name for cure in candidates([0], everything=False)][:2] == ["threads=1", "inference-mode"]
    assert not any(cure.name.startswith("affinity") for cure in candidates([0], everything=False))
    tried = {cure.name.partition("=")[0] for cure in everything}
    assert tried == set(KINDS) - {"skip", "replace", "fingerprint"}, "every cure that needs no name is tried with --all"


def test_a_diagnosis_is_marked_and_no_part_of_the_combination_unless_it_was_named(tmp_path: Path) -> None:
    program = Program({"threads=1": 1.3, "gc-freeze": 1.2, "mute-logging": 1.2})
    found = tried_on(program, tmp_path, ["threads=1", "gc-freeze", "mute-logging"], also=True)
    assert found.together is not None
    assert found.together.cures == ("threads=1", "gc-freeze")
    text = render_quickwins_text(found)
    assert "mute-logging (?)" in text
    assert "(?) for diagnosis only" in text
    assert "mute-logging is no part of the combination: it shows what something costs, and is no cure" in text
    assert "`mute-logging` (for diagnosis only)" in render_quickwins_markdown(found)


def test_two_kinds_of_vector_environments_exclude_each_other() -> None:
    assert cure_of("serial-vecenv").group == cure_of("subproc-vecenv").group
    assert "mute-logging" in list_cures()


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400), ("30", 30)])
def test_a_budget_is_read_in_seconds_minutes_and_hours(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0s", "ten", "-1m", "1d", "1e9h"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        parse_duration(text)
