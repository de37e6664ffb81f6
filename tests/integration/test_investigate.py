"""`rlprof investigate` with a real program: a cure, and changes that do nothing, do less, fail and hang."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import jsonschema
import pytest

from rlprof.experiments.investigate.parse import read_plan
from rlprof.experiments.logbook import FILE, read_content
from rlprof.render.json import investigation_schema
from support.programs import RLPROF, Json, Outcome, environment, run, started, wait_for, write_program

#: A training loop that can be made faster in two places. Long sleeps are steady on a busy machine.
TRAIN = """
    import argparse, sys, time
    import rlprof
    import scenery

    parser = argparse.ArgumentParser()
    parser.add_argument("--update", type=float, default=0.06)  # so much that a busy machine hides none of it
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--colour", default="red")
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--hang", action="store_true")

    def main():
        options = parser.parse_args()
        if options.fail:
            sys.exit("no such game")
        for turn in range(options.turns):
            rlprof.iteration()
            with rlprof.profile("env_step", phase="env.step"):
                time.sleep(0.002)
            scenery.draw()
            rlprof.count("env_steps", 8)
            rlprof.count("episodes", 1)
            with rlprof.profile("update", phase="learn.loss"):
                time.sleep(options.update)
            rlprof.count("updates", 1)
            while options.hang:
                time.sleep(0.05)

    main()
"""

PATIENCE = 900.0  # seconds; only a hang takes that long
pytestmark = [pytest.mark.timed, pytest.mark.timeout(PATIENCE + 60)]

SCENERY = """
    import time
    import rlprof

    def draw():
        with rlprof.profile("draw", phase="env.render"):
            time.sleep(0.02)
"""

PLAN = """
[baseline]
command = "train.py --turns 8 --colour red"

[settings]
runs = 9  # five tell on a quiet machine, and end the test
timeout = 7

[[hypothesis]]
name = "quicker update"
because = "learning is most of the time"
expect = 1.8
confidence = 0.9
effort = 0.5
changes_learning = false
action = "make the update quicker"
change.arguments = "--update 0.0005"

[[hypothesis]]
name = "another colour"
expect = 1.5
confidence = 0.3
effort = 0.5
changes_learning = false
change.arguments = "--colour blue"
change.environment = { COLOUR = "blue" }

[[hypothesis]]
name = "half the turns"
expect = 2.0
confidence = 0.9
effort = 0.5
changes_learning = false
change.arguments = "--turns 4"

[[hypothesis]]
name = "fails"
expect = 1.1
confidence = 0.1
effort = 1.0
changes_learning = false
change.arguments = "--fail"

[[hypothesis]]
name = "hangs"
expect = 1.05
confidence = 0.1
effort = 1.0
changes_learning = false
change.arguments = "--hang"

[[hypothesis]]
name = "open"
expect = 3.0
confidence = 0.1
effort = 1.0
changes_learning = true
fill_in = "the option that sets how often it learns"
"""


def surroundings(folder: Path) -> dict[str, str]:
    """With temporary files of its own, so that nobody waits for the trials of other tests: programs that sleep can."""
    (folder / "tmp").mkdir(exist_ok=True)
    return environment(COLUMNS="120", TMPDIR=str(folder / "tmp"))


def rlprof(folder: Path, *words: str) -> Outcome:
    return run([*RLPROF, *words], folder, env=surroundings(folder))


def whole_investigation(folder: Path, *words: str) -> tuple[int, str, str]:
    """Dozens of runs, which take their time on a busy machine: how it ended, and what it said."""
    with started([*RLPROF, "investigate", *words], folder, env=surroundings(folder)) as process:
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("investigate")
    write_program(directory, TRAIN, "train.py")
    write_program(directory, SCENERY, "scenery.py")
    (directory / "plan.toml").write_text(PLAN, encoding="utf-8")
    return directory


def trials_of(folder: Path, name: str = "*") -> list[Json]:
    found = [read_content(file.parent) for file in (folder / "exp").glob(f"{name}/{FILE}")]
    return [trial for content in found for trial in content["trials"]]


@pytest.fixture(scope="module")
def interrupted(folder: Path) -> tuple[int, str, int]:
    """Broken off in the middle of the second test: how it ended, what it said, and how many runs there were."""
    command = [*RLPROF, "investigate", "plan.toml", "--out", "exp"]
    with started(command, folder, env=surroundings(folder)) as process:
        wait_for(lambda: (folder / "exp").is_dir() and len(trials_of(folder)) >= 6, "the second test")
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    return process.returncode, err, len(trials_of(folder))


@pytest.fixture(scope="module")
def resumed(folder: Path, interrupted: tuple[int, str, int]) -> str:
    """What was said while the rest was run."""
    code, _, err = whole_investigation(folder, "--resume", "exp", "--json", "result.json", "--markdown", "result.md")
    assert code == 0, err
    return err


@pytest.fixture(scope="module")
def result(folder: Path, resumed: str) -> Json:
    found: Json = json.loads((folder / "result.json").read_text())
    return found


def by_name(result: Json) -> dict[str, Json]:
    return {entry["name"]: entry for entry in result["hypotheses"]}


def test_being_interrupted_keeps_what_was_measured(interrupted: tuple[int, str, int]) -> None:
    code, err, runs = interrupted
    assert code == 130
    assert "rlprof investigate --resume exp" in err
    assert runs >= 6


def test_resuming_runs_only_what_is_missing(folder: Path, interrupted: tuple[int, str, int], result: Json) -> None:
    trials = trials_of(folder)
    assert len(trials) == result["runs"]
    finished = [trial for trial in trials_of(folder, "half-the-turns-*") if trial["outcome"] == "completed"]
    assert len(finished) in (4, 5)  # two pairs show it; the baseline of a pair that was broken off runs again
    assert not result["interrupted"]


def test_the_true_cure_is_confirmed_with_its_interval(result: Json) -> None:
    cure = by_name(result)["quicker update"]
    assert cure["verdict"] == "confirmed"
    measured = cure["measured"]
    assert 1 < measured["low"] < measured["ratio"] < measured["high"]
    assert measured["work"] == measured["baseline_work"]
    assert measured["work"]["env_steps"] == 64
    assert cure["command"] == "train.py --turns 8 --colour red --update 0.0005"


def test_a_useless_change_is_not_confirmed(result: Json) -> None:
    useless = by_name(result)["another colour"]
    assert useless["verdict"] in ("refuted", "cannot-tell")
    assert useless["environment"] == {"COLOUR": "blue"}


def test_what_does_less_is_called_that_and_not_measured_to_the_end(result: Json) -> None:
    less = by_name(result)["half the turns"]
    assert less["verdict"] == "less-work"
    assert less["measured"]["pairs"] == 2
    assert any("env steps: 32.0 instead of 64.0, -50%" in note for note in less["notes"])


def test_what_fails_or_hangs_is_told_and_stops_nobody(folder: Path, result: Json) -> None:
    fails, hangs = by_name(result)["fails"], by_name(result)["hangs"]
    assert fails["verdict"] == hangs["verdict"] == "failed"
    assert "failed with exit code 1" in fails["notes"][0]
    assert "did not end within 7 s" in hangs["notes"][0]
    assert "no such game" in (folder / fails["notes"][0].rpartition(" ")[2]).read_text()


def test_what_is_left_open_waits_for_its_change(result: Json) -> None:
    waits = by_name(result)["open"]
    assert waits["verdict"] == "untested"
    assert waits["notes"] == ["the option that sets how often it learns"]


def test_the_most_promising_came_first(result: Json) -> None:
    names = [entry["name"] for entry in result["hypotheses"]]
    assert names == ["half the turns", "quicker update", "another colour", "fails", "hangs", "open"]


def test_actions_begin_with_the_cure(result: Json) -> None:
    first, *others = result["actions"]
    assert (first["rank"], first["name"], first["action"]) == (1, "quicker update", "make the update quicker")
    assert {item["name"] for item in others} >= {"fails", "hangs", "open"}
    assert "half the turns" not in {item["name"] for item in others}


def test_the_result_keeps_to_its_schema_and_is_shown_again(folder: Path, result: Json) -> None:
    jsonschema.validate(result, investigation_schema())
    again = rlprof(folder, "investigate", "exp")
    assert again.code == 0
    assert "does less work" in again.out
    assert "quicker update" in again.out
    assert (folder / "result.md").read_text().startswith("## rlprof: investigation")


def test_progress_and_the_time_left_are_told(resumed: str) -> None:
    assert "left at most" in resumed
    assert "quicker update:" in resumed


def test_what_only_its_owner_may_read_stays_so(folder: Path, result: Json) -> None:
    for name in ("plan.toml", FILE):
        assert (folder / "exp" / name).stat().st_mode & 0o077 == 0


CURES = """
[baseline]
command = "train.py --turns 8"

[settings]
runs = 5
warm_up_runs = 1

[combination]
arguments = "--turns 12"

[[hypothesis]]
name = "quicker update"
expect = 1.9
confidence = 0.9
effort = 0.5
changes_learning = false
change.arguments = "--update 0.0005"

[[hypothesis]]
name = "cheaper update"
expect = 1.2
confidence = 0.9
effort = 0.5
changes_learning = false
change.arguments = "--update=0.01"

[[hypothesis]]
name = "nothing drawn"
expect = 1.3
confidence = 0.8
effort = 0.5
changes_learning = false
change.skip = "scenery:draw"

[[hypothesis]]
name = "cheap drawing"
expect = 1.5
confidence = 0.9
effort = 0.5
changes_learning = true
change.replace = { "scenery:draw" = "cheap:draw" }
"""


@pytest.mark.slow
def test_cures_that_go_together_are_measured_together(folder: Path) -> None:
    write_program(folder, "def draw(): pass", "cheap.py")
    (folder / "cures.toml").write_text(CURES, encoding="utf-8")
    code, out, err = whole_investigation(folder, "cures.toml", "--out", "cures", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert {entry["verdict"] for entry in found["hypotheses"]} == {"confirmed"}
    shown = by_name(found)["nothing drawn"]
    assert shown["diagnosis"]
    assert shown["treatments"] == ["skip:scenery:draw"]
    (team,) = found["combinations"]
    assert set(team["members"]) == {"quicker update", "cheap drawing"}
    assert [entry["name"] for entry in team["left_out"]] == ["cheaper update", "nothing drawn"]
    assert "--turns 12" in team["command"]
    assert team["verdict"] == "confirmed"
    assert team["measured"]["low"] > by_name(found)["quicker update"]["measured"]["ratio"]


def test_a_budget_is_kept_and_nothing_is_lost(folder: Path) -> None:
    done = rlprof(folder, "investigate", "plan.toml", "--out", "short", "--budget", "1s", "--json", "-")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["budget_spent"]
    assert found["runs"] == 1
    assert by_name(found)["quicker update"]["notes"] == ["the budget was spent before its turn"]


def test_where_nothing_helps_the_answer_is_no(folder: Path) -> None:
    plan = PLAN[: PLAN.index("[[hypothesis]]")] + PLAN[PLAN.index('[[hypothesis]]\nname = "fails"') :]
    plan = plan[: plan.index('[[hypothesis]]\nname = "hangs"')]
    (folder / "no.toml").write_text(plan, encoding="utf-8")
    done = rlprof(folder, "investigate", "no.toml", "--out", "no", "--json", "-")
    assert done.code == 1, done.err
    assert [entry["verdict"] for entry in json.loads(done.out)["hypotheses"]] == ["failed"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("train.py --turns 8", "missing.py", "there is no script missing.py"),
        ("train.py --turns 8", "train.py --fail", "the program as it is failed with exit code 1"),
        ('change.arguments = "--fail"', 'change.skip = "m:f=}"', "what skip:m:f is to return is no JSON"),
        ("expect = 1.8", "expect = 0.5", "plan 2.toml:9: hypothesis 1 (quicker update): expect is a number above 1"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_run_ends_with_one_line_and_2(folder: Path, old: str, new: str, said: str) -> None:
    assert old in PLAN
    (folder / "plan 2.toml").write_text(PLAN.replace(old, new, 1), encoding="utf-8")
    out = f"bad-{abs(hash(new))}"
    done = rlprof(folder, "investigate", "plan 2.toml", "--out", out)
    assert done.code == 2
    assert said in done.err.splitlines()[-1]
    assert done.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a plan, or --from a recording"),
        (["plan.toml", "--resume", "exp"], "name a plan, or --from a recording"),
        (["missing.toml"], "cannot read the plan missing.toml"),
        (["plan.toml", "--budget", "soon"], "'soon' is no length of time"),
        (["--resume", "nowhere"], "there is no experiment in nowhere"),
        (["--from", "missing.rlprof"], "there is no recording"),
    ],
)
def test_wrong_use_ends_with_one_line_and_2(folder: Path, words: list[str], said: str) -> None:
    done = rlprof(folder, "investigate", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_plan_is_made_from_a_recording_and_never_over_another(folder: Path) -> None:
    rlprof(folder, "run", "--quiet", "--out", "made.rlprof", "train.py", "--turns", "3")
    made = rlprof(folder, "investigate", "--from", "made.rlprof", "--out", "made.toml")
    assert made.code == 0, made.err
    assert 'command = ["train.py", "--turns", "3"]' in (folder / "made.toml").read_text()
    again = rlprof(folder, "investigate", "--from", "made.rlprof", "--out", "made.toml")
    assert again.code == 2
    assert "is there already" in again.err


def test_the_plan_in_the_directory_is_the_one_that_counts(folder: Path, result: Json) -> None:
    assert read_plan(folder / "exp" / "plan.toml") == read_plan(folder / "plan.toml")


def test_a_program_that_stops_working_leaves_what_was_measured(folder: Path) -> None:
    """Its second run fails: only the first look is over by then."""
    source = "import pathlib, sys\nruns = pathlib.Path('runs.txt')\nwith runs.open('a') as file:\n    file.write('x')\n"
    source += "if len(runs.read_text()) > 1:\n    sys.exit('the disk is full')\nimport train\n"
    write_program(folder, source, "weary.py")
    plan = PLAN[: PLAN.index('[[hypothesis]]\nname = "another colour"')].replace("train.py", "weary.py")
    (folder / "weary.toml").write_text(plan, encoding="utf-8")
    done = rlprof(folder, "investigate", "weary.toml", "--out", "weary", "--json", "weary.json")
    assert done.code == 2
    assert "the program as it is failed with exit code 1" in done.err
    assert "what was measured is kept: rlprof investigate --resume weary" in done.err
    (found,) = json.loads((folder / "weary.json").read_text())["hypotheses"]
    assert found["verdict"] == "untested"  # not the change's fault
    assert found["notes"] == ["the program as it is did not work when its turn came"]
